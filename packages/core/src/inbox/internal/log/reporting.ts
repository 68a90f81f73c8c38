import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { BotApi } from "../../../client/BotApi.ts"
import * as Endpoint from "../../../client/Endpoint.ts"
import * as Settings from "../../../client/Settings.ts"
import type { Entry } from "../../UpdateLog.ts"
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
    const added = yield* Queue.unbounded<Entry>()
    yield* Effect.acquireRelease(
      Effect.sync(() => (log.onEntry = (entry) => void Queue.offerUnsafe(added, entry))),
      () => Effect.sync(() => (log.onEntry = undefined))
    )
    while (true) {
      const entries = yield* Queue.takeAll(added)
      yield* Effect.ignore(api.execute(report, { entries }))
    }
  })
