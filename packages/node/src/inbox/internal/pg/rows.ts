import type { Row, RowWrite } from "@colloquy/core/inbox/InboxStore"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { decodeKey, decodeText, encodeIndexed, encodeKey, encodeText } from "../../../base/internal/stores/values.ts"

/** Longest key of an index, in bytes. */
const maxKey = 2000

/** A key as the index has it: a long key is its beginning and its hash. `f` is then the whole key. */
export const toKey = (key: string): { readonly k: string; readonly f?: string } => {
  const encoded = encodeKey(key)
  if (encoded.length <= maxKey / 3 || Buffer.byteLength(encoded) <= maxKey) return { k: encoded }
  const hash = createHash("sha256").update(encoded).digest("hex")
  return { k: `${encoded.slice(0, maxKey / 4)}#${hash}`, f: encoded }
}

/** The keys with a prefix: at or after the first text, and before the second one. */
export const rangeOf = (prefix: string): readonly [string, string] => {
  const encoded = encodeKey(prefix)
  return [encoded, `${encoded}\u{10ffff}`]
}

/** A row that does not belong to a journal, as queries return it. */
export interface StoredRow {
  readonly key: string
  readonly text: string
  readonly revision: string
  readonly expires_at: bigint | null
  readonly due_at: bigint | null
}

export const toRow = ({ due_at, expires_at, key, revision, text }: StoredRow): Row => ({
  key: decodeKey(key),
  text: decodeText(text),
  revision,
  ...(expires_at === null ? {} : { expiresAt: Number(expires_at) }),
  ...(due_at === null ? {} : { dueAt: Number(due_at) })
})

/** A row of a journal, as a claim returns it. */
export const JournalRow = Schema.Struct({ key: Schema.String, text: Schema.String, revision: Schema.String })

export const toJournalRow = ({ key, revision, text }: typeof JournalRow.Type): Row => ({
  key: decodeKey(key),
  text: decodeText(text),
  revision
})

/** Writes as `write_rows` reads them. */
export const toWrites = (group: string, writes: ReadonlyArray<RowWrite>, updateId: string = "0") =>
  writes.map(({ expected, key, otherwise, revision, row }) => {
    const condition = { e: expected === null ? "" : expected, s: otherwise === "skip" ? 1 : undefined }
    const target = { g: group, i: updateId, ...toKey(key), ...condition }
    if (row === undefined) return target
    const { due, expiresAt, text, user } = row
    const written = { ...target, r: revision, t: encodeText(text), x: expiresAt }
    if (user === undefined && due === undefined) return written
    const { at, after }: { at?: number; after?: number } = due?.time ?? {}
    return {
      ...written,
      u: user === undefined ? undefined : encodeIndexed(user),
      d: at === undefined ? undefined : Math.floor(at),
      a: after === undefined ? undefined : Math.ceil(after),
      p: due === undefined ? undefined : encodeIndexed(due.partitionKey)
    }
  })

/** Whether `write_rows` has to check conditions or delete rows. */
export const isChecked = (writes: ReadonlyArray<RowWrite>): boolean =>
  writes.some(({ expected, row }) => expected !== undefined || row === undefined)

/** A list as a parameter of a function: `NULL` if it is empty. */
export const toJson = (list: ReadonlyArray<object>): string | null => (list.length === 0 ? null : JSON.stringify(list))

/**
 * Divides items into lists that are applied one after the other. Two items with a common subject are in one list only if both
 * have the same share in the subject. Usually, one list contains all items.
 */
export const toRounds = <A>(
  items: ReadonlyArray<A>,
  subjectsOf: (item: A) => ReadonlyArray<readonly [subject: string, share: unknown]>
): ReadonlyArray<ReadonlyArray<A>> => {
  let round: Array<A> = []
  const rounds = [round]
  const shares = new Map<string, unknown>()
  for (const item of items) {
    const subjects = subjectsOf(item)
    if (subjects.some(([subject, share]) => shares.has(subject) && shares.get(subject) !== share)) {
      round = []
      rounds.push(round)
      shares.clear()
    }
    round.push(item)
    for (const [subject, share] of subjects) shares.set(subject, share)
  }
  return rounds
}
