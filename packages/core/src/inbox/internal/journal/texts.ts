import * as Effect from "effect/Effect"
import type { Texts } from "../../../client/internal/journal/current.ts"
import type { Entries } from "./entries.ts"

/** The list of an update that is not handled any more. */
export const none: Texts = { occurrence: 1, recorded: [], add: () => {}, write: Effect.void, release: () => {} }

/**
 * Opens the list of a slot: an entry for each text, with its number. Entries are written in order, so the store never
 * has a text without the texts before.
 */
export const open = (entries: Entries, slot: string, release: () => void): Texts => {
  const at = (index: number): string => `${slot}/${index}`
  const recorded: Array<string> = []
  for (let entry = entries.get(at(0)); entry !== undefined; entry = entries.get(at(recorded.length))) {
    recorded.push(entry.text)
  }
  let next = recorded.length
  return {
    occurrence: Number(slot.slice(slot.lastIndexOf(" ") + 1)),
    recorded,
    add: (text) => entries.add({ slot: at(next++), state: "done", text }),
    write: entries.write(),
    release
  }
}
