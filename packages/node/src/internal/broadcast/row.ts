import type { RecipientStatus, RecipientRecord as Served, Summary, Status } from "@colloquy/core/BroadcastStore"
import type { ChatId, MessageId } from "@colloquy/core/Recipient"

/** A number as a database hands it out. */
type Count = number | bigint | string

/** A broadcast as flat columns, without who has it. */
export interface Broadcast {
  readonly name: string
  readonly status: string
  readonly started_at: Count
  readonly total: Count | null
  readonly sent: Count
  readonly forbidden: Count
  readonly not_found: Count
  readonly failed: Count
}

export const toStanding = (row: Broadcast): Summary => ({
  name: row.name,
  status: row.status as Status,
  startedAt: Number(row.started_at),
  total: row.total === null ? undefined : Number(row.total),
  counts: {
    Sent: Number(row.sent),
    Forbidden: Number(row.forbidden),
    NotFound: Number(row.not_found),
    Failed: Number(row.failed)
  }
})

/** A record as flat columns. */
export interface Row {
  readonly chat_id: Count
  readonly status: string
  readonly message_id: string | null
  readonly problem: string | null
  readonly at: Count
}

// PostgreSQL refuses U+0000 and half a surrogate pair in a text.
const clean = (text: string | undefined) => text?.toWellFormed().replaceAll("\0", "") ?? null

export const fromRecord = (record: Served): Row => ({
  chat_id: record.chat_id,
  status: record.status,
  message_id: clean(record.message_id),
  problem: clean(record.problem),
  at: record.at
})

export const toRecord = ({ at, chat_id, status: kind, message_id, problem }: Row): Served => ({
  chat_id: Number(chat_id) as ChatId,
  status: kind as RecipientStatus,
  ...(message_id === null ? {} : { message_id: message_id as MessageId }),
  ...(problem === null ? {} : { problem }),
  at: Number(at)
})
