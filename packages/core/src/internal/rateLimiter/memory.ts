import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { coldMargins, lateness, type Driver, type Limits, type Request, type Watcher } from "./driver.ts"
import * as Ledger from "./buckets.ts"
import * as Queue from "./waiters.ts"
import * as Room from "./waitingQueue.ts"

/**
 * The driver of one process. Whoever arrives and the only timer move the queue on; a call that waits costs neither a
 * timer nor a fiber of its own.
 */
export const make = Effect.fnUntraced(function* (limits: Limits, margin: number, watcher: Watcher | undefined) {
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const ledger = Ledger.make(limits, margin * coldMargins)
  const late = lateness(margin * coldMargins)
  const room = Room.make()
  let timer: { readonly at: number; readonly fiber: Fiber.Fiber<void> } | undefined

  // A clock that is set back must not hold anybody up.
  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const stop = () => {
    timer?.fiber.interruptUnsafe()
    timer = undefined
  }

  const pumpAt = (at: number, millis: number) => {
    if (timer !== undefined && timer.at <= at) return
    stop()
    const pumping = Effect.sync(() => {
      timer = undefined
      pump()
    })
    timer = { at, fiber: run(Effect.andThen(Effect.sleep(Math.ceil(millis)), pumping)) }
  }

  const depart = (scope: string, line: string | undefined, rank: number, at: number) =>
    ledger.depart(scope, line, Room.isPaced(rank), at)

  const pump = (): void => {
    const at = now()
    room.wake(at)
    let wait = Infinity
    while (room.hasReady()) {
      wait = ledger.hostWait(at)
      if (wait > 0) {
        ledger.spreadFrom(at + wait)
        break
      }
      wait = ledger.paceWait(at)
      const line = room.next(wait <= 0)
      if (line === undefined) break
      wait = Infinity
      const lineWait = ledger.lineWait(line.name, at)
      if (lineWait > 0) room.delay(line, at + lineWait)
      else room.depart(line, depart(line.scope, line.name, room.rankOf(line), at))
    }
    room.expire(at)
    if (room.isEmpty()) return stop()
    const next = Math.min(at + wait, room.nextAt())
    pumpAt(next, next - at)
  }

  /** How long it is at least until a call that comes now would depart. */
  const waitFor = ({ scope, line, rank }: Request, at: number): Duration.Duration => {
    const { ahead, inLine } = room.ahead(line, rank)
    const { count = 1, window = 0 } = limits[scope] ?? {}
    return Duration.millis(
      Math.ceil(
        Math.max(
          ledger.hostWait(at) + ahead * ledger.spacing(),
          ledger.lineWait(line, at) + Math.floor(inLine / count) * window
        )
      )
    )
  }

  const queue = Queue.make(room, { now, moved: pump, emptied: stop, waitFor }, watcher)

  const driver: Driver = {
    acquire: (request) =>
      Effect.suspend(() => {
        const { scope, line, rank } = request
        const at = now()
        if (
          !room.hasReady() &&
          ledger.hostWait(at) <= 0 &&
          (!Room.isPaced(rank) || ledger.paceWait(at) <= 0) &&
          !room.has(line) &&
          ledger.lineWait(line, at) <= 0
        ) {
          watcher?.departed(rank, 0)
          return Effect.succeed({ ...depart(scope, line, rank, at), turn: queue.turnOf(request), left: at, line })
        }
        return queue.wait(request, at)
      }),
    pause: (millis) =>
      Effect.sync(() => {
        watcher?.paused(millis)
        ledger.pause(now(), millis)
      }),
    answered: ({ at, counted, line }) =>
      Effect.sync(() => {
        const to = at + late(now() - at)
        if (to > counted) ledger.postpone(line, counted, to)
      }),
    refused: (departure, pause = limits.host.window) =>
      Effect.sync(() => {
        watcher?.refused()
        watcher?.paused(pause)
        ledger.refused(departure, now(), pause)
        ledger.pause(now(), pause)
      }),
    merge: (from, to) =>
      Effect.sync(() => {
        ledger.merge(from, to)
        room.merge(from, to)
      }),
    status: Effect.sync(() => ({ waiting: [...room.waiting], lines: ledger.lines, level: ledger.level }))
  }
  return driver
})
