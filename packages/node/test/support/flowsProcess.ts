/** The bot of `flows.ts` in a process of its own: `flowsProcess.ts KIND PLACE URL`. It ends with its parent. */
import * as Effect from "effect/Effect"
import { run } from "./flows.ts"
import { layerOf } from "./inboxLayers.ts"

const [kind = "", place = "", url = ""] = process.argv.slice(2)

process.stdin.on("end", () => process.exit()).resume()

await Effect.runPromise(run(layerOf(kind, place), url))
