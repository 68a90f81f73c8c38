import { type Arrival, InboxStore, type Mailbox, type Settlement } from "@colloquy/core/InboxStore"
import * as Letter from "@colloquy/core/Letter"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Effect from "effect/Effect"

export interface Case {
  readonly name: string
  readonly effect: Effect.Effect<void, StoreError, InboxStore>
}

export const test = (
  name: string,
  body: () => Generator<Effect.Effect<unknown, StoreError, InboxStore>, void>
): Case => ({
  name,
  effect: Effect.gen(body)
})

/** When the cases happen. */
export const now = 1_700_000_000_000

export const day = 24 * 60 * 60 * 1000

export const lease = 90_000

export const letter = (
  fingerprint: string,
  { key = "chat", receivedAt = now, text = JSON.stringify({ fingerprint }) } = {}
): Letter.Letter => Letter.fromStored({ fingerprint, key, receivedAt, text })

export const lettersOf = (key: string, count: number): ReadonlyArray<Letter.Letter> =>
  Array.from({ length: count }, (_, index) => letter(`${key}:${index}`, { key }))

export const put = (letters: ReadonlyArray<Letter.Letter>, arrival: Partial<Arrival> = {}) => {
  const at = arrival.now ?? now
  return InboxStore.use((store) =>
    store.put({ letters, unreadable: [], now: at, duplicatesSince: at - day, ...arrival })
  )
}

export const unreadable = (fingerprint: string, text: string, problem = "is no update") => ({
  letter: letter(fingerprint, { key: "", text }),
  problem
})

export const claim = (
  owner: string,
  {
    at = now,
    leaseUntil = at + lease,
    mailboxes = 100,
    letters = 100
  }: Partial<Record<"at" | "leaseUntil" | "mailboxes" | "letters", number>> = {}
) => InboxStore.use((store) => store.claim({ owner, now: at, leaseUntil, mailboxes, letters }))

export const settle = (...settlements: ReadonlyArray<Settlement>) =>
  InboxStore.use((store) => store.settle(settlements))

/** Settles all letters of mailboxes as handled, and gives the mailboxes back. */
export const finish = (owner: string, mailboxes: ReadonlyArray<Mailbox>) =>
  settle(
    ...mailboxes.flatMap(({ key, letters }) =>
      letters.map(({ id }, index) => ({ owner, key, letter: { id }, release: index === letters.length - 1 }))
    )
  )

export const bury = (owner: string, { key, letters }: Mailbox, problem: string, at = now) =>
  settle(
    ...letters.map(({ id }, index) => ({
      owner,
      key,
      letter: { id, death: { problem, attempts: 3, at } },
      release: index === letters.length - 1
    }))
  )

export const stats = InboxStore.use((store) => store.stats)

export const dead = (limit = 100, after?: string) => InboxStore.use((store) => store.dead({ limit, after }))

export const fingerprints = (mailboxes: ReadonlyArray<Mailbox>): ReadonlyArray<ReadonlyArray<string>> =>
  mailboxes.map(({ letters }) => letters.map(({ letter }) => letter.fingerprint))

/** The fingerprints of all that waits, key by key, taken out of the store. */
export const takeAll = Effect.fnUntraced(function* (owner = "the last one", at = now + 10 * day) {
  const taken: Array<string> = []
  for (;;) {
    const mailboxes = yield* claim(owner, { at })
    if (mailboxes.length === 0) return taken
    taken.push(...fingerprints(mailboxes).flat())
    yield* finish(owner, mailboxes)
  }
})
