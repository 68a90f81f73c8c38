import type { JournalEntry } from "../../InboxStore.ts"

/** The journals of a store in memory, by the ids of their updates. */
export const makeJournals = () => {
  const journals = new Map<string, Map<string, JournalEntry>>()
  return {
    isEmpty: (): boolean => journals.size === 0,
    /** Returns the journal of an update, or `undefined` if the journal has no entries. */
    of: (id: string): ReadonlyArray<JournalEntry> | undefined => {
      const journal = journals.get(id)
      return journal === undefined ? undefined : [...journal.values()]
    },
    write: (id: string, entries: ReadonlyArray<JournalEntry>): void => {
      const journal = journals.get(id) ?? new Map<string, JournalEntry>()
      for (const entry of entries) {
        if (entry.state === "removed") journal.delete(entry.slot)
        else if (entry.state === "done" || journal.get(entry.slot)?.state !== "done") journal.set(entry.slot, entry)
      }
      if (journal.size > 0) journals.set(id, journal)
      else journals.delete(id)
    },
    move: (from: string, to: string): void => {
      const journal = journals.get(from)
      if (journal === undefined) return
      journals.delete(from)
      journals.set(to, journal)
    },
    remove: (id: string): void => void journals.delete(id)
  }
}
