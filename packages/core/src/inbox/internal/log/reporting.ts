import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { BotApi } from "../../../client/BotApi.ts"
import * as Endpoint from "../../../client/Endpoint.ts"
import * as Settings from "../../../client/Settings.ts"
import type { Entry } from "../../UpdateLog.ts"
import { makeWaiter } from "../consumer/waiter.ts"
import type { Log } from "./log.ts"

/**
 * The call of the emulator by which a bot tells what it did with its updates. The platform has no such call. The emulator checks
 * the entries, so a bot does not load their schema.
 */
const report = Endpoint.make("Emulator.report", () => ({
  method: "POST",
  path: "/_emulator/handled",
  body: { entries: Schema.Array(Schema.Unknown) },
  success: Schema.Unknown,
  errors: []
}))

/** Sends the entries of the log to the emulator, until the scope closes, if the setting `BOT_EMULATOR` is `true`. */
export const reporting = (log: Log, services: Context.Context<never>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const api = Context.getOrUndefined(services, BotApi)
    const isOn = yield* Effect.orElseSucceed(Settings.emulator, () => false)
    if (!isOn || api === undefined) return
    let entries: Array<Entry> = []
    const added = makeWaiter(() => entries.length > 0)
    const onEntry = (entry: Entry) => {
      entries.push(entry)
      added.wake()
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => (log.onEntry = onEntry)),
      () => Effect.sync(() => (log.onEntry = undefined))
    )
    while (true) {
      yield* added.until
      const reported = entries
      entries = []
      yield* Effect.ignore(api.execute(report, { entries: reported }))
    }
  })
