import { Effect } from "effect"
import { truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const file = join(yield* Runner.folder, "video.mp4")
  yield* Effect.sync(() => {
    writeFileSync(file, "")
    truncateSync(file, 30_000_000)
  })
  const ann = yield* Runner.user("Ann")
  const dialog = yield* ann.opens
  const program = yield* Runner.start("upload", {
    ...(yield* Runner.botSettings),
    CHAT_ID: String(dialog.chat_id),
    FILE: file
  })
  yield* ann.sees
  yield* program.exited
})
