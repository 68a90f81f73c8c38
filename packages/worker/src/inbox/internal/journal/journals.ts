import type { JournalEntry } from "@colloquy/core/inbox/InboxStore"
import { decodeText, encodeText, type Query } from "../../../base/internal/database.ts"

type EntryRow = { readonly slot: string; readonly state: string; readonly text: string }

const toEntry = ({ slot, state, text }: EntryRow): JournalEntry => ({
  slot: decodeText(slot),
  state: state === "done" ? "done" : "started",
  text: decodeText(text)
})

/** The journals of updates, by the ids of the updates. */
export const makeJournals = (query: Query) => ({
  /** Returns the journal of an update, or `undefined` without entries. */
  of: (id: number): ReadonlyArray<JournalEntry> | undefined => {
    const rows = query<EntryRow>("SELECT slot, state, text FROM colloquy_journal WHERE update_id = ?", id)
    return rows.length === 0 ? undefined : rows.map(toEntry)
  },
  write: (id: number, entries: ReadonlyArray<JournalEntry>): void => {
    for (const { slot, state, text } of entries) {
      if (state === "removed") {
        query("DELETE FROM colloquy_journal WHERE update_id = ? AND slot = ?", id, encodeText(slot))
      } else {
        query(
          `INSERT INTO colloquy_journal AS j (update_id, slot, state, text) VALUES (?, ?, ?, ?)
            ON CONFLICT (update_id, slot) DO UPDATE SET state = excluded.state, text = excluded.text
            WHERE excluded.state = 'done' OR j.state = 'started'`,
          id,
          encodeText(slot),
          state,
          encodeText(text)
        )
      }
    }
  },
  move: (from: number, to: number): void =>
    void query("UPDATE colloquy_journal SET update_id = ? WHERE update_id = ?", to, from),
  remove: (id: number): void => void query("DELETE FROM colloquy_journal WHERE update_id = ?", id)
})
