/**
 * Repeats an incident in a test: the last attempt of a dead letter, with its update, the values of states, the timers and the
 * recorded answers, in virtual time and without a network. `colloquy dead test` writes such a test.
 *
 * @since 0.1.0
 */
import type { BotApi } from "@colloquy/core/client/BotApi"
import type { Handler } from "@colloquy/core/inbox/Handler"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import type { Incident } from "@colloquy/core/inbox/Incident"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import type * as Updates from "@colloquy/core/inbox/Updates"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { answerBy, drain, layer } from "./internal/repeating.ts"

/**
 * The update of an incident failed again. The message is the error of the handler, with its stack.
 *
 * @category errors
 * @since 0.1.0
 */
export class IncidentRepeated extends Data.TaggedError("IncidentRepeated")<{
  /** The error of the handler, as text. */
  readonly message: string
}> {}

/** Puts the values, the timers and the update of an incident, with its journal, into an empty store. */
const restore = (store: InboxStore.InboxStore["Service"], incident: Incident, update: QueuedUpdate.QueuedUpdate) =>
  Effect.gen(function* () {
    const { failedAt, fingerprint: revision, journal, partitionKey, timers, values } = incident
    const due = timers.map(({ dueAt, key, text }) => {
      const row = { text, due: { time: { at: dueAt }, partitionKey } }
      return { key, row, revision }
    })
    yield* store.write([{ rows: [...values.map(({ key, text }) => ({ key, row: { text }, revision })), ...due] }])
    yield* store.enqueue({ updates: [update], deadLetters: [], now: failedAt, duplicatesSince: Infinity })
    if (journal.length === 0) return
    const owner = "incident"
    const claim = { owner, leaseDuration: 60_000, maxPartitions: 1, maxUpdates: 1, begin: 0 }
    const [partition] = yield* store.claim(claim)
    const [entry] = partition?.updates ?? []
    if (entry === undefined) return
    const rows = journal.map(({ key, text }) => ({ key, row: { text }, revision }))
    yield* store.write([{ rows, journal: { owner, partitionKey, id: entry.id } }])
    yield* store.renew(owner, 0)
  })

/**
 * Handles the update of an incident by a bot. Succeeds if the handler succeeds, and fails with {@link IncidentRepeated} otherwise, also if the
 * update cannot be decoded. The attempt is not retried. A call gets its recorded answer; a call that was not recorded succeeds.
 * The clock begins at the time of the failure, and advances by itself.
 *
 * The services of the bot, apart from the client and the inbox, are requirements: provide layers for tests.
 *
 * **Example** (A test that `colloquy dead test` has written)
 *
 * ```ts
 * import { Bot, Command, Messages } from "@colloquy/core"
 * import type { Incident } from "@colloquy/core"
 * import { TestIncident } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const bot = Bot.make(Command.make("start").on((update) => Messages.reply(update, "Hello")))
 *
 * declare const incident: Incident.Incident
 *
 * const test = () => Effect.runPromise(TestIncident.run(bot, incident))
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, R>(
  bot: Handler<E, R>,
  incident: Incident
): Effect.Effect<void, IncidentRepeated, Exclude<R, BotApi | Inbox.Inbox | Updates.Updates>> =>
  Effect.gen(function* () {
    const { failedAt, fingerprint, partitionKey, receivedAt, update: text } = incident
    const update = QueuedUpdate.fromStored({ fingerprint, partitionKey, receivedAt, text })
    if (Result.isFailure(update.decoded)) {
      return yield* new IncidentRepeated({ message: update.decoded.failure.message })
    }
    yield* TestClock.setTime(failedAt)
    const store = yield* InboxStore.makeMemory
    yield* Effect.orDie(restore(store, incident, update))
    yield* answerBy(incident.calls)
    const inbox = yield* Effect.provideService(Inbox.make(), InboxStore.InboxStore, store)
    const [error] = yield* drain(bot, inbox, 0)
    if (error !== undefined) return yield* new IncidentRepeated({ message: error })
    // The compiler does not know that the services of the bot are not those of the layer.
  }).pipe(Effect.scoped, Effect.provide(layer)) as Effect.Effect<void, IncidentRepeated>
