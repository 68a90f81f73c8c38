import type { Arrival, Death, Settlement } from "@colloquy/core/InboxStore"
import type * as Letter from "@colloquy/core/Letter"
import type { NewLetter } from "./sqlDialect.ts"
import { toName, toPlain } from "./plain.ts"

/** A letter that may be new, as the table has it. */
export interface Candidate {
  readonly arrival: number
  readonly isRecognised: boolean
  readonly at: number
  readonly row: NewLetter
}

const rowOf = (letter: Letter.Letter, problem: string | undefined, now: number): NewLetter => ({
  fingerprint: toName(letter.fingerprint),
  key: toName(letter.key),
  received_at: letter.receivedAt,
  text: toPlain(letter.text),
  problem: problem === undefined ? null : toPlain(problem),
  attempts: problem === undefined ? null : 0,
  died_at: problem === undefined ? null : now
})

/** The letters of arrivals in their order, without those that one of the arrivals already has. */
export const candidatesOf = (arrivals: ReadonlyArray<Arrival>): ReadonlyArray<Candidate> => {
  const known = new Set<string>()
  const candidates: Array<Candidate> = []
  for (const [arrival, { letters, unreadable, now, duplicatesSince }] of arrivals.entries()) {
    const isRecognised = duplicatesSince <= now
    const add = (row: NewLetter) => {
      if (isRecognised && known.has(row.fingerprint)) return
      known.add(row.fingerprint)
      candidates.push({ arrival, isRecognised, at: now, row })
    }
    for (const letter of letters) add(rowOf(letter, undefined, now))
    for (const { letter, problem } of unreadable) add(rowOf(letter, problem, now))
  }
  return candidates
}

/** What settlements come to where mailboxes have these owners. */
export const planOf = (settlements: ReadonlyArray<Settlement>, owners: ReadonlyMap<string, string>) => {
  const handled: Array<{ id: string }> = []
  const died: Array<{ id: string } & Death> = []
  const released = new Map<string, boolean>()
  for (const { owner, key, letter, release } of settlements) {
    const name = toName(key)
    if (owners.get(name) !== owner || released.get(name) === true) continue
    released.set(name, release)
    if (letter === undefined) continue
    const { id, death } = letter
    if (death === undefined) handled.push({ id })
    else died.push({ ...death, id, problem: toPlain(death.problem) })
  }
  return { handled, died, touched: [...released].map(([key, release]) => ({ key, released: release ? 1 : 0 })) }
}
