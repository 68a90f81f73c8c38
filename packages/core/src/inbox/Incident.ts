/**
 * The input of the last attempt of a dead letter: its update, the values of states that it read, its timers, the recorded answers of
 * its calls and the results of its steps. `TestIncident` of `@colloquy/testing` repeats the attempt in a test, and
 * `colloquy dead test` writes such a test.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Row } from "./InboxStore.ts"
import { pages } from "../base/internal/pages.ts"
import type { StoreError } from "../base/StoreError.ts"
import { chatOf } from "../model/Update.ts"
import { deadLetters, Inbox } from "./Inbox.ts"
import { incidentKey } from "./internal/log/incident.ts"
import { Call } from "./UpdateLog.ts"

const Text = Schema.Struct({
  /** The key of the row. */
  key: Schema.String,
  /** The text of the row. */
  text: Schema.String
})

/**
 * The part of an incident that the inbox stores beside the dead letter.
 *
 * @category models
 * @since 0.1.0
 */
export const StoredIncident = Schema.Struct({
  /** The calls of the last attempt, with requests and answers. */
  calls: Schema.Array(Call),
  /** The journal of the update: recorded answers of calls, and results of steps. */
  journal: Schema.Array(Text),
  /** The values of states that the attempt has read, as they are stored. */
  values: Schema.Array(Text)
})

/**
 * The type of {@link StoredIncident}.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredIncident extends Schema.Schema.Type<typeof StoredIncident> {}

/**
 * An incident: a dead letter, and what its last attempt has seen.
 *
 * @category models
 * @since 0.1.0
 */
export const Incident = Schema.Struct({
  ...StoredIncident.fields,
  /** The JSON text of the update. */
  update: Schema.String,
  /** The fingerprint of the update. */
  fingerprint: Schema.String,
  /** The partition key of the update. */
  partitionKey: Schema.String,
  /** The error of the last attempt. */
  error: Schema.String,
  /** When the update was received, in Unix milliseconds. */
  receivedAt: Schema.Finite,
  /** When the last attempt failed, in Unix milliseconds. */
  failedAt: Schema.Finite,
  /** The timers of the chat, as they are stored now. */
  timers: Schema.Array(Schema.Struct({ ...Text.fields, dueAt: Schema.Finite }))
})

/**
 * The type of {@link Incident}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Incident extends Schema.Schema.Type<typeof Incident> {}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(StoredIncident))

const empty: StoredIncident = { calls: [], journal: [], values: [] }

const pageSize = 100

/** Timers of a chat have the chat in the JSON text of their rows. */
const timersOf = (chat_id: number) =>
  Inbox.use(({ store }) =>
    pages(pageSize, (after: Row | undefined) =>
      store.rows({ prefix: "timer/", by: "due", after, limit: pageSize })
    ).pipe(
      Stream.filter(({ text }) => text.includes(`"chat_id":${chat_id}`)),
      Stream.take(pageSize),
      Stream.runCollect
    )
  )

/**
 * Returns the incident of a dead letter, or `None` if there is no dead letter with the id. An incident of a dead letter that was never
 * handled, or whose inbox has no log, has neither calls nor values.
 *
 * **Example** (The calls of a dead letter)
 *
 * ```ts
 * import { Incident } from "@colloquy/core"
 * import { Effect, Option } from "effect"
 *
 * const calls = Effect.map(Incident.ofDeadLetter("17"), Option.map(({ calls }) => calls.map(({ endpoint }) => endpoint)))
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const ofDeadLetter = (id: string): Effect.Effect<Option.Option<Incident>, StoreError, Inbox> =>
  Effect.gen(function* () {
    const found = yield* Stream.runHead(Stream.filter(deadLetters, (letter) => letter.id === id))
    if (Option.isNone(found)) return Option.none()
    const { error, failedAt, update } = found.value
    const { store } = yield* Inbox
    const [row] = yield* store.read([incidentKey(id)])
    const stored = Option.getOrElse(row === undefined ? Option.none() : decode(row.text), () => empty)
    const chat_id = Result.isSuccess(update.decoded) ? chatOf(update.decoded.success) : undefined
    const timers = chat_id === undefined ? [] : yield* timersOf(chat_id)
    const { fingerprint, partitionKey, receivedAt, text } = update
    return Option.some({
      ...stored,
      update: text,
      fingerprint,
      partitionKey,
      error,
      receivedAt,
      failedAt,
      timers: timers.map(({ dueAt = 0, key, text }) => ({ key, text, dueAt }))
    })
  })
