import { Effect } from "effect"
import { truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Stage from "../stage/stage.ts"

export const scene: Stage.Scene = Effect.gen(function* () {
  const film = join(yield* Stage.folder, "film.mp4")
  yield* Effect.sync(() => {
    writeFileSync(film, "")
    truncateSync(film, 30_000_000)
  })
  const ann = yield* Stage.person("Ann")
  const dialog = yield* ann.opens
  const program = yield* Stage.start("upload", {
    ...(yield* Stage.bot),
    CHAT_ID: String(dialog.chat_id),
    FILE: film
  })
  yield* ann.sees
  yield* program.ended
})
