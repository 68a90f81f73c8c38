import type { BegunRecipient, RecipientRecord, Summary } from "@colloquy/core/broadcast/Broadcast"
import { ChatId, MessageId } from "@colloquy/core/model/Recipient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { encodeText, StoredInteger, StoredText } from "../../base/internal/stores/values.ts"

/** A broadcast, without its lease. */
const Broadcast = Schema.Struct({
  name: Schema.String,
  status: Schema.Literals(["running", "paused", "cancelled", "finished"]),
  started_at: StoredInteger,
  total: Schema.NullOr(StoredInteger),
  sent: StoredInteger,
  forbidden: StoredInteger,
  not_found: StoredInteger,
  failed: StoredInteger
})

/** The columns of a broadcast, as the database returns them. */
export type BroadcastRow = { readonly [K in keyof typeof Broadcast.fields]: unknown }

const decodeBroadcast = Schema.decodeUnknownEffect(Broadcast)

export const toSummary = (row: BroadcastRow): Effect.Effect<Summary, Schema.SchemaError> =>
  Effect.map(decodeBroadcast(row), ({ name, status, started_at, total, sent, forbidden, not_found, failed }) => ({
    name,
    status,
    startedAt: started_at,
    total: total ?? undefined,
    counts: { Sent: sent, Forbidden: forbidden, NotFound: not_found, Failed: failed }
  }))

const textOrNull = (text: string | undefined) => (text === undefined ? null : encodeText(text))

/** A record as flat columns. */
export const fromRecord = (record: RecipientRecord) => ({
  chat_id: record.chat_id,
  status: record.status,
  message_id: textOrNull(record.message_id),
  problem: textOrNull(record.problem),
  at: record.at
})

const Record = Schema.Struct({
  chat_id: StoredInteger.pipe(Schema.decodeTo(ChatId)),
  status: Schema.Literals(["Sent", "Forbidden", "NotFound", "Failed"]),
  message_id: Schema.NullOr(StoredText.pipe(Schema.decodeTo(MessageId))),
  problem: Schema.NullOr(StoredText),
  at: StoredInteger
})

const toRecipientRecord = ({ message_id, problem, ...record }: typeof Record.Type): RecipientRecord => ({
  ...record,
  ...(message_id === null ? {} : { message_id }),
  ...(problem === null ? {} : { problem })
})

const decodeRecord = Schema.decodeUnknownEffect(Record)

const decodeJsonRecord = Schema.decodeUnknownEffect(Schema.fromJsonString(Record))

/** `toRecord` and `fromJson` fail if a column is not in the format of `fromRecord`. */
export const toRecord = (row: unknown) => Effect.map(decodeRecord(row), toRecipientRecord)

export const fromJson = (json: string) => Effect.map(decodeJsonRecord(json), toRecipientRecord)

const BegunList = Schema.fromJsonString(Schema.Array(Schema.Struct({ chat_id: ChatId, after: Schema.Number })))

const decodeBegun = Schema.decodeUnknownEffect(BegunList)

export const fromBegun = (recipients: ReadonlyArray<BegunRecipient>): string => JSON.stringify(recipients)

/** Fails if the text is not in the format of `fromBegun`. */
export const toBegun = (text: unknown): Effect.Effect<ReadonlyArray<BegunRecipient>, Schema.SchemaError> =>
  text == null ? Effect.succeed([]) : decodeBegun(text)
