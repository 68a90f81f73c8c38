import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Departure, NotLetGo, type Request, type Watcher } from "./driver.ts"
import type { Room, Ticket } from "./waitingQueue.ts"

/** What a queue asks of its driver. */
export interface Driving {
  readonly now: () => number
  /** Somebody came: perhaps they may depart. */
  readonly moved: () => void
  /** Nobody waits any more. */
  readonly emptied: () => void
  readonly waitFor: (request: Request, now: number) => Duration.Duration
}

/** Calls as they wait in a room: until they depart, give up, or are interrupted. */
export const make = (room: Room, { now, moved, emptied, waitFor }: Driving, watcher: Watcher | undefined) => {
  let turns = 0

  const turnOf = ({ again }: Request): number => again?.turn ?? turns++

  const notLetGo = (request: Request, isFull: boolean) => {
    watcher?.notLetGo(request.rank)
    return Effect.fail(new NotLetGo({ isFull, retryAfter: waitFor(request, now()) }))
  }

  return {
    turnOf,
    /** Whoever comes from now on has a later turn. */
    nextTurn: () => turns,
    wait: (request: Request, since: number): Effect.Effect<Departure, NotLetGo> => {
      const { scope, line, rank, patience, backlog, again } = request
      if (again === undefined && room.waiting[rank] >= backlog) return notLetGo(request, true)
      return Effect.callback((resume) => {
        const turn = turnOf(request)
        const leave = () => {
          room.leave(ticket)
          watcher?.waits(rank, -1)
          if (room.isEmpty()) emptied()
        }
        const ticket: Ticket = {
          rank,
          turn,
          expires: since + patience,
          isAgain: again !== undefined,
          depart: (how) => {
            watcher?.waits(rank, -1)
            watcher?.departed(rank, now() - since)
            resume(Effect.succeed({ ...how, turn, left: now(), line: ticket.line!.name }))
          },
          expire: () => {
            leave()
            resume(notLetGo(request, false))
          }
        }
        watcher?.waits(rank, 1)
        room.enter(scope, line, ticket)
        moved()
        return Effect.sync(leave)
      })
    }
  }
}
