import * as Effect from "effect/Effect"
import type { Arrival, Claim, InboxStore, Mailbox, Settlement } from "../../InboxStore.ts"
import type * as Letter from "../../Letter.ts"
import { makeHeap } from "./heap.ts"
import { Recent } from "./deduplication.ts"

interface Waiting extends Letter.Stored {
  readonly seq: number
}

/** The letters of one key. `first` is the place of the first one that is not settled. */
interface Box {
  readonly key: string
  letters: Array<Waiting>
  first: number
  owner: string | undefined
  leaseUntil: number
}

const tidyAfter = 64

const headOf = (box: Box): number => box.letters[box.first]?.seq ?? Infinity

export const makeMemory = (): InboxStore["Service"] => {
  const boxes = new Map<string, Box>()
  const ready = makeHeap<Box>((a, b) => headOf(a) < headOf(b))
  const recent = new Recent()
  const dead = new Map<string, Letter.Dead>()
  const markers = new Map<string, bigint>()
  let seq = 0
  let waiting = 0
  let firstLease = Infinity

  const isNew = ({ fingerprint }: Letter.Letter, { now, duplicatesSince }: Arrival): boolean =>
    recent.note(fingerprint, now, duplicatesSince)

  const append = (letter: Letter.Letter): void => {
    waiting++
    const stored = { id: String(++seq), letter, seq }
    const box = boxes.get(letter.key)
    if (box !== undefined) {
      box.letters.push(stored)
      return
    }
    const opened: Box = { key: letter.key, letters: [stored], first: 0, owner: undefined, leaseUntil: 0 }
    boxes.set(letter.key, opened)
    ready.push(opened)
  }

  const put = (arrival: Arrival): number => {
    let accepted = 0
    for (const letter of arrival.letters) {
      if (!isNew(letter, arrival)) continue
      accepted++
      append(letter)
    }
    for (const { letter, problem } of arrival.unreadable) {
      if (!isNew(letter, arrival)) continue
      accepted++
      const id = String(++seq)
      dead.set(id, { id, letter, problem, attempts: 0, diedAt: arrival.now })
    }
    if (arrival.marker !== undefined) markers.set(arrival.marker.source, arrival.marker.value)
    return accepted
  }

  const giveBack = (box: Box): void => {
    box.owner = undefined
    if (box.first === box.letters.length) boxes.delete(box.key)
    else ready.push(box)
  }

  const endLeases = (now: number): void => {
    if (now < firstLease) return
    firstLease = Infinity
    for (const box of boxes.values()) {
      if (box.owner === undefined) continue
      if (box.leaseUntil <= now) giveBack(box)
      else firstLease = Math.min(firstLease, box.leaseUntil)
    }
  }

  const claim = ({ owner, now, leaseUntil, mailboxes, letters }: Claim): ReadonlyArray<Mailbox> => {
    endLeases(now)
    const claimed: Array<Mailbox> = []
    while (claimed.length < mailboxes) {
      const box = ready.pop()
      if (box === undefined) break
      box.owner = owner
      box.leaseUntil = leaseUntil
      firstLease = Math.min(firstLease, leaseUntil)
      claimed.push({ key: box.key, letters: box.letters.slice(box.first, box.first + letters) })
    }
    return claimed
  }

  const settleLetter = (box: Box, { id, death }: NonNullable<Settlement["letter"]>): void => {
    const head = box.letters[box.first]
    if (head === undefined || head.id !== id) return
    waiting--
    box.first++
    if (death !== undefined) {
      const { problem, attempts, at } = death
      dead.set(id, { id, letter: head.letter, problem, attempts, diedAt: at })
    }
    if (box.first >= tidyAfter && box.first * 2 >= box.letters.length) {
      box.letters = box.letters.slice(box.first)
      box.first = 0
    }
  }

  const settle = (settlements: ReadonlyArray<Settlement>): void => {
    for (const { owner, key, letter, release } of settlements) {
      const box = boxes.get(key)
      if (box === undefined || box.owner !== owner) continue
      if (letter !== undefined) settleLetter(box, letter)
      if (release) giveBack(box)
    }
  }

  const extend = (owner: string, leaseUntil: number): void => {
    for (const box of boxes.values()) if (box.owner === owner) box.leaseUntil = leaseUntil
    firstLease = Math.min(firstLease, leaseUntil)
  }

  const oldest = (): number | undefined => {
    let at: number | undefined
    for (const box of boxes.values()) {
      const received = box.letters[box.first]?.letter.receivedAt
      if (received !== undefined && (at === undefined || received < at)) at = received
    }
    return at
  }

  const take = (ids: ReadonlyArray<string>): ReadonlyArray<Letter.Dead> =>
    ids.flatMap((id) => {
      const letter = dead.get(id)
      dead.delete(id)
      return letter === undefined ? [] : [letter]
    })

  return {
    isShared: false,
    put: (arrival) => Effect.sync(() => put(arrival)),
    claim: (asked) => Effect.sync(() => claim(asked)),
    settle: (settlements) => Effect.sync(() => settle(settlements)),
    extend: (owner, leaseUntil) => Effect.sync(() => extend(owner, leaseUntil)),
    stats: Effect.sync(() => ({ waiting, oldest: oldest(), dead: dead.size })),
    marker: (source) => Effect.sync(() => markers.get(source)),
    dead: ({ after = "0", limit }) =>
      Effect.sync(() =>
        [...dead.values()]
          .filter(({ id }) => Number(id) > Number(after))
          .sort((a, b) => Number(a.id) - Number(b.id))
          .slice(0, limit)
      ),
    replay: (ids) =>
      Effect.sync(() => {
        const letters = take(ids)
        for (const { letter } of letters) append(letter)
        return letters.length
      }),
    drop: (ids) => Effect.sync(() => take(ids).length),
    sweep: ({ seenBefore, diedBefore }) =>
      Effect.sync(() => {
        recent.forget(seenBefore)
        for (const [id, { diedAt }] of dead) if (diedAt < diedBefore) dead.delete(id)
      })
  }
}
