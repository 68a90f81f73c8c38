import type { KnownChat } from "@colloquy/core/KnownChat"
import type * as ChatRecord from "@colloquy/core/ChatRecord"
import type { ChatId } from "@colloquy/core/Recipient"
import type { User } from "@colloquy/core/User"

/** A record as flat columns: what is not told is null, and its time -1. Users, rights and data are JSON texts. */
export interface Row {
  readonly chat_id: number
  readonly type: string | null
  readonly first_seen: number
  readonly last_seen: number
  readonly member_at: number
  readonly left_at: number
  readonly title: string | null
  readonly title_at: number
  readonly dialog_user: string | null
  readonly dialog_user_at: number
  readonly rights: string | null
  readonly rights_at: number
}

const untold = -1

// PostgreSQL refuses U+0000 and half a surrogate pair in a text.
const clean = (text: string | null | undefined) => text?.toWellFormed().replaceAll("\0", "") ?? null

const json = (dated: ChatRecord.Dated<object> | undefined) => (dated === undefined ? null : JSON.stringify(dated.value))

export const fromRecord = (record: ChatRecord.ChatRecord): Row => ({
  chat_id: record.chat_id,
  type: clean(record.type),
  first_seen: record.first_seen,
  last_seen: record.last_seen,
  member_at: record.member_at,
  left_at: record.left_at,
  title: clean(record.title?.value),
  title_at: record.title?.at ?? untold,
  dialog_user: json(record.user),
  dialog_user_at: record.user?.at ?? untold,
  rights: json(record.rights),
  rights_at: record.rights?.at ?? untold
})

/** The columns that an entry is made of, as a database hands them out. */
export interface Known {
  readonly chat_id: number | bigint | string
  readonly type: string | null
  readonly first_seen: number | bigint | string
  readonly last_seen: number | bigint | string
  readonly title: string | null
  readonly dialog_user: string | null
  readonly rights: string | null
  readonly data: string
}

/** Throws where a text is not the JSON that was written. */
export const toEntry = (row: Known): KnownChat => ({
  chat_id: Number(row.chat_id) as ChatId,
  ...(row.type === null ? {} : { type: row.type }),
  ...(row.title === null ? {} : { title: row.title }),
  ...(row.dialog_user === null ? {} : { user: JSON.parse(row.dialog_user) as User }),
  ...(row.rights === null ? {} : { rights: JSON.parse(row.rights) as NonNullable<KnownChat["rights"]> }),
  first_seen: Number(row.first_seen),
  last_seen: Number(row.last_seen),
  data: JSON.parse(row.data) as KnownChat["data"]
})
