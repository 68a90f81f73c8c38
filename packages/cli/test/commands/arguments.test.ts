import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Databases from "../../../node/test/support/databases.ts"
import { run } from "../support/run.ts"

/** Arguments with a mistake, and the part of the error that names the mistake. */
const mistakes: ReadonlyArray<readonly [args: ReadonlyArray<string>, named: string]> = [
  [["updates", "replay", "none.json"], "none.json: cannot be read"],
  [["updates", "replay", "malformed.ndjson"], "malformed.ndjson, update 1: is not an update"],
  [["updates", "story", "Anna"], '"Anna" is not the id of a chat'],
  [["chats", "import", "none.ndjson"], "none.ndjson: cannot be read"],
  [["chats", "import", "malformed.ndjson"], "malformed.ndjson, line 1: is not a chat"],
  [["chats", "list", "--active-since", "soon"], '--active-since "soon"'],
  [["check-deploy", "none.js"], "none.js cannot be imported"],
  [["dead", "drop"], "Give the ids of the dead letters to drop"],
  [["dead", "list", "--since", "soon"], '--since "soon"'],
  [["dead", "replay", "--all", "--rate", "0"], "--rate 0: must be above 0"],
  [["state", "forget", "Anna"], '"Anna" is not the id of a user'],
  [["state", "get", "cart", "7"], '"7" is not a scope'],
  [["state", "set", "cart", "user:7", "tea"], "The value is not JSON"],
  [["subscriptions", "set", "bot"], '"bot" is not a URL'],
  [["subscriptions", "remove", "bot"], '"bot" is not a URL'],
  [["webhook", "rotate-secret", "--url", "bot"], '--url "bot": is not a URL'],
  [["send", "Anna", "Hello"], '"Anna" is not the id of a chat'],
  [["send", "1", "🫖".repeat(4001)], "The text has 4001 characters"],
  [["status", "--interval", "soon"], '--interval "soon"'],
  [["updates", "tail", "--interval", "1 milli"], '--interval "1 milli"'],
  [["verify-platform", "--chat", "Anna"], "Anna"]
]

describe("the arguments of a command", () => {
  it.live("are checked before the settings, which are missing here", () =>
    Effect.gen(function* () {
      const folder = yield* Databases.temporaryFolder
      writeFileSync(join(folder, "malformed.ndjson"), `{"chat_id":"x"}\n`)
      for (const [args, named] of mistakes) {
        const { code, err, out } = yield* run(args, {}, folder)
        assert.include(err, named, args.join(" "))
        assert.deepStrictEqual([code, out], [2, ""], args.join(" "))
      }
    })
  )
})
