/**
 * What 429s have taught about the host's limit. A record of numbers, so that processes can share it. Times are those of
 * whoever keeps the departures.
 */
export interface Lessons {
  /** How many departures the window may hold for now. */
  readonly level: number
  /** The level that the last lesson began with, and the one that it ended with. */
  readonly before: number
  readonly after: number
  /** When the last lesson was learnt: a 429 of what had departed by then belongs to it. */
  readonly at: number
  /** When a higher level may be tried, by how much, and how long the next lesson puts that off. */
  readonly tryAt: number
  readonly step: number
  readonly patience: number
}

/** What is known of a departure. */
export interface Refused {
  readonly at: number
  /** When it counts as departed: it may have been on its way for longer. */
  readonly counted: number
  /** How many had departed before it within the window. */
  readonly load: number
  /** Whether it took the last place of its own line, so that the refusal may have been about that. */
  readonly isLast: boolean
}

const leastPatience = 5000
const mostPatience = 300_000

export const none = (count: number): Lessons => ({
  level: count,
  before: count,
  after: 0,
  at: -1,
  tryAt: 0,
  step: 1,
  patience: leastPatience
})

/**
 * The platform lets in what fits, so what had departed before the refused one is what it allows. But others may use the
 * same token: one lesson takes three quarters of the level at most, or half where the refusal may have been about the
 * chat. A lesson that ends no higher than the one before doubles the time until more is tried.
 */
export const learn = (lessons: Lessons, { at, load, isLast }: Refused, now: number, pause: number): Lessons => {
  const isSame = at <= lessons.at
  const before = isSame ? lessons.before : lessons.level
  const found = Math.max(1, Math.min(load, before - 1), Math.floor(before / (isLast ? 2 : 4)))
  if (isSame) {
    const level = Math.min(lessons.level, found)
    return { ...lessons, level, after: level }
  }
  const patience = found > lessons.after ? leastPatience : Math.min(lessons.patience * 2, mostPatience)
  return { level: found, before, after: found, at: now, tryAt: now + pause + patience, step: 1, patience }
}

/** After a departure: where it used the level up and no lesson came for long enough, a higher one is tried. */
export const climb = (lessons: Lessons, count: number, load: number, now: number, window: number): Lessons =>
  lessons.level >= count || now < lessons.tryAt || load + 1 < lessons.level
    ? lessons
    : {
        ...lessons,
        level: Math.min(count, lessons.level + lessons.step),
        step: lessons.step * 2,
        tryAt: now + window * 1.5
      }
