import * as Effect from "effect/Effect"
import type { JournalEntry } from "../../HandlingStore.ts"
import type { Texts } from "../../../client/internal/journal/current.ts"

interface Opened {
  readonly entries: Map<string, JournalEntry>
  /**
   * Entries that the store may not have. These entries are written together and in order, so that the store never has a
   * text without the texts before.
   */
  readonly unwritten: Set<JournalEntry>
}

/** The list of an update that is not handled any more. */
export const none: Texts = { occurrence: 1, recorded: [], add: () => {}, write: Effect.void, release: () => {} }

/** Opens the list of a slot: an entry for each text, with its number. */
export const open = (
  { entries, unwritten }: Opened,
  slot: string,
  write: Effect.Effect<void>,
  release: () => void
): Texts => {
  const at = (index: number): string => `${slot}/${index}`
  const recorded: Array<string> = []
  for (let entry = entries.get(at(0)); entry !== undefined; entry = entries.get(at(recorded.length))) {
    recorded.push(entry.text)
  }
  let next = recorded.length
  return {
    occurrence: Number(slot.slice(slot.lastIndexOf(" ") + 1)),
    recorded,
    add: (text) => {
      const entry: JournalEntry = { slot: at(next++), state: "done", text }
      entries.set(entry.slot, entry)
      unwritten.add(entry)
    },
    write,
    release
  }
}
