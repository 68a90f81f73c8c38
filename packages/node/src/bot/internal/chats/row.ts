import type * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import { type KnownChat, Rights } from "@colloquy/core/bot/ChatStore"
import { ChatId } from "@colloquy/core/model/Recipient"
import { User } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { encodeText, StoredInteger, StoredText } from "../../../base/internal/stores/values.ts"

/** The columns of a record. The order is that of the fields in the scripts of Redis. */
export const recordColumns = {
  chat_id: "bigint",
  type: "text",
  first_seen: "bigint",
  last_seen: "bigint",
  member_at: "bigint",
  left_at: "bigint",
  title: "text",
  title_at: "bigint",
  dialog_user: "text",
  dialog_user_at: "bigint",
  rights: "text",
  rights_at: "bigint"
} as const

/** A record as flat columns. Unknown facts are null, with the time -1. User and rights are JSON. */
export type RecordRow = {
  readonly [K in keyof typeof recordColumns]: (typeof recordColumns)[K] extends "text" ? string | null : number
}

const unknownAt = -1

const textOrNull = (text: string | null | undefined) => (text == null ? null : encodeText(text))

const jsonOrNull = (fact: ChatRecord.Dated<object> | undefined) =>
  fact === undefined ? null : JSON.stringify(fact.value)

export const fromRecord = (record: ChatRecord.ChatRecord): RecordRow => ({
  chat_id: record.chat_id,
  type: textOrNull(record.type),
  first_seen: record.first_seen,
  last_seen: record.last_seen,
  member_at: record.member_at,
  left_at: record.left_at,
  title: textOrNull(record.title?.value),
  title_at: record.title?.at ?? unknownAt,
  dialog_user: jsonOrNull(record.user),
  dialog_user_at: record.user?.at ?? unknownAt,
  rights: jsonOrNull(record.rights),
  rights_at: record.rights?.at ?? unknownAt
})

/** The columns of a known chat. */
export const chatColumns = ["chat_id", "type", "first_seen", "last_seen", "title", "dialog_user", "rights"] as const

/** The columns of a known chat, as the database returns them. */
export type ChatRow = { readonly [K in (typeof chatColumns)[number]]: unknown }

const Chat = Schema.Struct({
  chat_id: StoredInteger.pipe(Schema.decodeTo(ChatId)),
  type: Schema.NullOr(StoredText),
  first_seen: StoredInteger,
  last_seen: StoredInteger,
  title: Schema.NullOr(StoredText),
  dialog_user: Schema.NullOr(Schema.fromJsonString(User)),
  rights: Schema.NullOr(Schema.fromJsonString(Rights))
})

const decode = Schema.decodeUnknownResult(Chat)

const toKnownChat = (row: ChatRow): Result.Result<KnownChat, Schema.SchemaError> =>
  Result.map(decode(row), ({ dialog_user, rights, title, type, ...chat }) => ({
    ...chat,
    ...(type === null ? {} : { type }),
    ...(title === null ? {} : { title }),
    ...(dialog_user === null ? {} : { user: dialog_user }),
    ...(rights === null ? {} : { rights })
  }))

/** Fails if a column is not in the format of `fromRecord`. */
export const toKnownChats = (rows: ReadonlyArray<ChatRow>): Effect.Effect<Array<KnownChat>, Schema.SchemaError> =>
  Effect.suspend(() => Effect.fromResult(Result.all(rows.map(toKnownChat))))
