/** What a soak run found: updates that were lost, repeated or out of order, and whether memory and handles are flat. */
import type { Sample } from "./bot.ts"
import type { Replies } from "./protocol.ts"

export interface TimedSample extends Sample {
  /** How many messages were handled before the sample. */
  readonly handled: number
  /** Part of the life of the process that was over, from 0 to 1. */
  readonly age: number
}

export interface Report {
  readonly handled: number
  readonly lost: ReadonlyArray<number>
  readonly outOfOrder: ReadonlyArray<number>
  /** How many handlers ran again after they had succeeded. */
  readonly repeated: number
  readonly repliesLost: ReadonlyArray<number>
  readonly repliesOutOfOrder: ReadonlyArray<number>
  readonly deadLetters: number
}

/** Reads the journal of the handlers: lines such as `0 begin 17`. */
export const judge = (
  journal: string,
  replies: Replies,
  {
    chats,
    deadLetters,
    replyEvery,
    total
  }: { readonly chats: number; readonly deadLetters: number; readonly replyEvery: number; readonly total: number }
): Report => {
  const ended = new Set<number>()
  const last = new Map<number, number>()
  const outOfOrder: Array<number> = []
  let repeated = 0
  for (const line of journal.trimEnd().split("\n")) {
    const [, what, text] = line.split(" ")
    if (what !== "end") continue
    const number = Number(text)
    if (ended.has(number)) {
      repeated++
      continue
    }
    const latest = last.get(number % chats) ?? -1
    if (latest > number) outOfOrder.push(number)
    last.set(number % chats, Math.max(latest, number))
    ended.add(number)
  }
  const missing = (found: ReadonlySet<number>, every: number) =>
    Array.from({ length: Math.ceil(total / every) }, (_, index) => index * every).filter((number) => !found.has(number))
  const replied = new Set<number>()
  const repliesOutOfOrder: Array<number> = []
  for (const texts of replies) {
    let latest = -1
    for (const number of texts.map(Number)) {
      if (replied.has(number)) continue
      if (number < latest) repliesOutOfOrder.push(number)
      latest = Math.max(latest, number)
      replied.add(number)
    }
  }
  return {
    handled: ended.size,
    lost: missing(ended, 1),
    outOfOrder,
    repeated,
    repliesLost: missing(replied, replyEvery),
    repliesOutOfOrder,
    deadLetters
  }
}

/** The quantities that must be flat, and by how much the later half of a run may exceed the earlier one. */
const flat = {
  heap: { factor: 1.1, more: 2e6 },
  rss: { factor: 1.1, more: 10e6 },
  files: { factor: 1, more: 1 },
  resources: { factor: 1, more: 2 }
} as const

export type Quantity = keyof typeof flat

export interface Halves {
  readonly quantity: Quantity
  readonly earlier: number
  readonly later: number
  readonly isFlat: boolean
}

const minSamples = 10

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Compares the later half of a run with the earlier half. Only samples of the second half of the life of a process count,
 * because a process grows after its start. Returns nothing if a half has fewer than {@link minSamples} of these.
 */
export const compareHalves = (samples: ReadonlyArray<TimedSample>): ReadonlyArray<Halves> => {
  const grown = samples.filter(({ age }) => age >= 0.5)
  const middle = Math.max(...samples.map(({ handled }) => handled)) / 2
  const halves = [grown.filter(({ handled }) => handled < middle), grown.filter(({ handled }) => handled >= middle)]
  if (halves.some(({ length }) => length < minSamples)) return []
  return (Object.keys(flat) as ReadonlyArray<Quantity>).map((quantity) => {
    const [earlier, later] = halves.map((half) => mean(half.map((sample) => sample[quantity])))
    return { quantity, earlier, later, isFlat: later <= earlier * flat[quantity].factor + flat[quantity].more }
  })
}

/** Returns the conditions that do not hold. */
export const problemsOf = (
  report: Report,
  halves: ReadonlyArray<Halves>,
  maxRepeated: number
): ReadonlyArray<string> => {
  const list = (what: string, numbers: ReadonlyArray<number>) =>
    numbers.length === 0 ? [] : [`${numbers.length} ${what}: ${numbers.slice(0, 10).join(", ")}`]
  return [
    ...list("messages were not handled", report.lost),
    ...list("messages were handled after a later one of their chat", report.outOfOrder),
    ...list("replies are missing", report.repliesLost),
    ...list("replies came after a later one of their chat", report.repliesOutOfOrder),
    ...(report.deadLetters > 0 ? [`${report.deadLetters} dead letters`] : []),
    ...(report.repeated > maxRepeated
      ? [`${report.repeated} handlers were repeated, at most ${maxRepeated} may be`]
      : []),
    ...halves
      .filter(({ isFlat }) => !isFlat)
      .map(({ earlier, later, quantity }) => `${quantity} grew from ${Math.round(earlier)} to ${Math.round(later)}`)
  ]
}
