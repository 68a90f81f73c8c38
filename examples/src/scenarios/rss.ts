import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

/** The test of this example has a feed. The scenario has no internet, and the bot reads no feed of a private network. */
export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  const program = yield* Runner.start("rss", yield* Runner.botSettings)
  yield* ann.opens
  yield* ann.sees
  yield* ann.says("/follow")
  yield* ann.sees
  yield* ann.says("/follow http://127.0.0.1/feed.xml")
  yield* ann.sees
  yield* ann.says("/unfollow")
  yield* ann.sees
  yield* program.stop
})
