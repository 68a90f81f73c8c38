import type { Refused } from "./adaptiveLimit.ts"

/** A call that waits. `rank` is that of its lane, 0 the most urgent; `turn` says who came first. */
export interface Ticket {
  readonly rank: number
  readonly turn: number
  readonly expires: number
  /** It departed before and was refused: it goes before whoever came later. */
  readonly isAgain: boolean
  readonly depart: (how: Refused) => void
  readonly expire: () => void
  line?: Line
}

/** Those who wait for one limit of one chat, or one who only waits for the host, first come first served. */
export interface Line {
  readonly scope: string
  name: string | undefined
  readonly tickets: Set<Ticket>
  /** How many of them there are of each rank. */
  readonly ranks: Array<number>
  /** Where the line stands: in a lane, or among those that may not depart before a time. */
  place: Set<Line> | undefined
  readyAt: number
}

const lanes = 4

const zeros = (): Array<number> => Array.from({ length: lanes }, () => 0)

/** The ranks that are paced: beyond a burst, their departures are spread over the window. */
export const isPaced = (rank: number): boolean => rank > 1

/** Of so many departures, a lane that waits has one at the least. */
const shareOf = 20

const first = <A>(set: Set<A>): A | undefined => set.values().next().value

const putFirst = <A>(set: Set<A>, item: A, isBefore: (other: A) => boolean): void => {
  const others = [...set]
  const index = others.findIndex((other) => !isBefore(other))
  set.clear()
  for (const other of [...others.slice(0, index < 0 ? others.length : index), item]) set.add(other)
  for (const other of others) set.add(other)
}

export type Room = ReturnType<typeof make>

/**
 * Who waits, and who is next. A line has one place in a lane, whatever its length: that of the most urgent of its calls,
 * so that nobody waits behind less urgent ones for longer than their own line takes.
 */
export const make = () => {
  const lines = new Map<string | undefined, Line>()
  const ready = Array.from({ length: lanes }, () => new Set<Line>())
  const passed = zeros()
  const waiting = zeros()
  const delayed = new Set<Line>()
  let delayedUntil = Infinity
  let expiry = Infinity

  const rankOf = (line: Line) => line.ranks.findIndex((count) => count > 0)

  const stand = (line: Line) => {
    line.place?.delete(line)
    line.place = ready[rankOf(line)]
    const head = first(line.tickets)!
    if (!head.isAgain) return line.place.add(line)
    return putFirst(line.place, line, (other) => {
      const { isAgain, turn } = first(other.tickets)!
      return isAgain && turn < head.turn
    })
  }

  const call = (line: Line, name: string) => {
    line.name = name
    lines.set(name, line)
  }

  const forget = (line: Line) => {
    line.place?.delete(line)
    line.place = undefined
    if (lines.get(line.name) === line) lines.delete(line.name)
  }

  const count = (line: Line, { rank }: Ticket, by: 1 | -1) => {
    line.ranks[rank] += by
    waiting[rank] += by
  }

  /** The line that is next: of the most urgent lane, unless another has been passed over for too long. */
  const next = (withPaced: boolean): Line | undefined => {
    let next = -1
    for (let rank = 0; rank < lanes; rank++) {
      if (ready[rank].size === 0 || (isPaced(rank) && !withPaced)) continue
      if (next < 0 || passed[rank] >= Math.max(shareOf - 1, passed[next] + 1)) next = rank
    }
    return next < 0 ? undefined : first(ready[next])
  }

  return {
    waiting,
    has: (name: string | undefined): boolean => lines.has(name),
    ready,
    rankOf,
    hasReady: () => ready.some(({ size }) => size > 0),
    /** How many places in the lanes, and how many calls in its own line, come before one that comes now. */
    ahead: (name: string | undefined, rank: number) => ({
      ahead: ready.reduce((sum, { size }, other) => (other <= rank ? sum + size : sum), 0),
      inLine: lines.get(name)?.tickets.size ?? 0
    }),
    isEmpty: () => waiting.every((count) => count === 0),
    /** When something happens by itself: a line becomes ready, or somebody's patience ends. */
    nextAt: () => Math.min(delayedUntil, expiry),

    enter: (scope: string, name: string | undefined, ticket: Ticket): void => {
      let line = lines.get(name)
      if (line === undefined) {
        line = { scope, name, tickets: new Set(), ranks: zeros(), place: undefined, readyAt: 0 }
        if (name !== undefined) lines.set(name, line)
      }
      ticket.line = line
      if (ticket.isAgain) putFirst(line.tickets, ticket, ({ isAgain, turn }) => isAgain && turn < ticket.turn)
      else line.tickets.add(ticket)
      count(line, ticket, 1)
      expiry = Math.min(expiry, ticket.expires)
      if (line.place !== delayed && (ticket.isAgain || line.place !== ready[rankOf(line)])) stand(line)
    },

    leave: (ticket: Ticket): void => {
      const line = ticket.line!
      if (!line.tickets.delete(ticket)) return
      count(line, ticket, -1)
      if (line.tickets.size === 0) forget(line)
      else if (line.place !== delayed && line.place !== ready[rankOf(line)]) stand(line)
    },

    next,

    /** The first of a line departs. */
    depart: (line: Line, how: Refused): void => {
      const ticket = first(line.tickets)!
      const rank = rankOf(line)
      for (let other = 0; other < lanes; other++) if (other !== rank && ready[other].size > 0) passed[other]++
      passed[rank] = 0
      line.tickets.delete(ticket)
      count(line, ticket, -1)
      if (line.tickets.size === 0) forget(line)
      else stand(line)
      ticket.depart(how)
    },

    /** Two lines turn out to be one. */
    merge: (from: string, to: string): void => {
      const line = lines.get(from)
      if (line === undefined) return
      const other = lines.get(to)
      lines.delete(from)
      if (other === undefined) return call(line, to)
      const tickets = [...line.tickets, ...other.tickets].sort((a, b) => a.turn - b.turn)
      forget(line)
      other.tickets.clear()
      for (const ticket of tickets) {
        ticket.line = other
        other.tickets.add(ticket)
      }
      line.ranks.forEach((count, rank) => (other.ranks[rank] += count))
      if (other.place !== delayed) stand(other)
    },

    /** A line may not depart before a time. */
    delay: (line: Line, until: number): void => {
      line.place?.delete(line)
      line.place = delayed.add(line)
      line.readyAt = until
      delayedUntil = Math.min(delayedUntil, until)
    },

    /** Lets those lines go on whose time has come. */
    wake: (now: number): void => {
      if (now < delayedUntil) return
      delayedUntil = Infinity
      for (const line of delayed) {
        if (line.readyAt <= now) stand(line)
        else delayedUntil = Math.min(delayedUntil, line.readyAt)
      }
    },

    /** Lets those calls leave whose patience has ended, of those that came before a turn. */
    expire: (now: number, before: number = Infinity): void => {
      if (now < expiry) return
      expiry = Infinity
      for (const line of [delayed, ...ready].flatMap((set) => [...set])) {
        for (const ticket of line.tickets) {
          if (ticket.expires <= now && ticket.turn < before) ticket.expire()
          else expiry = Math.min(expiry, ticket.expires)
        }
      }
    }
  }
}

/** Those that are next, the first first. */
export const candidates = ({ next, ready }: Room, most: number): ReadonlyArray<Line> => {
  const candidates = new Set<Line>()
  const head = next(true)
  if (head !== undefined) candidates.add(head)
  for (const lines of ready) {
    for (const line of lines) {
      if (candidates.size >= most) break
      candidates.add(line)
    }
  }
  return [...candidates]
}
