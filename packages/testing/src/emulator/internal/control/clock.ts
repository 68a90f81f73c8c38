import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import * as refusal from "../http/refusal.ts"
import { emit } from "../platform/events.ts"
import { now, type PlatformState } from "../platform/state.ts"
import type { Handlers } from "./call.ts"
import { type ClockView, nextDue } from "./stateView.ts"

/** A clock that moves when it is adjusted, such as the test clock. */
interface AdjustableClock {
  readonly adjust: (duration: Duration.Input) => Effect.Effect<void>
}

/** A clock that follows the system clock until it is stopped. */
interface StoppableClock {
  readonly isRunning: boolean
  readonly setRunning: (isRunning: boolean) => Effect.Effect<void>
}

const isAdjustable = (clock: unknown): clock is AdjustableClock => hasProperty(clock, "adjust")

const isStoppable = (clock: unknown): clock is StoppableClock => hasProperty(clock, "setRunning")

/** The time, and the next due event. */
export const readClock = (state: PlatformState): Effect.Effect<typeof ClockView.Type> =>
  Effect.map(Clock.Clock, (clock) => ({
    now: Math.floor(clock.currentTimeMillisUnsafe()),
    is_virtual: isAdjustable(clock),
    is_running: isStoppable(clock) ? clock.isRunning : !isAdjustable(clock),
    next_due: nextDue(state)
  }))

const notVirtual = refusal.of(
  409,
  "clock.real",
  "Time cannot be moved: start the emulator with --virtual-time, or without --record and --replay"
)

const notStoppable = refusal.of(409, "clock.fixed", "This clock cannot be stopped or started")

const nothingDue = refusal.of(409, "clock.nothing.due", "No delivery, upload or subscription is waiting for a time")

/** Beyond this time, the `seq` of a message would need more than 63 bits. */
const maxTime = 2 ** 47 - 1

/** Calls that read and move the clock. */
export const clockHandlers = {
  getClock: (_, { state }) => readClock(state),
  advanceClock: Effect.fnUntraced(function* ({ advance_ms, running, to }, { state }) {
    const clock = yield* Clock.Clock
    if (advance_ms == null && to == null && running == null) {
      return yield* refusal.invalidPayload("advance_ms, to, running: one of them must be given")
    }
    if (running != null) {
      if (!isStoppable(clock)) return yield* notStoppable
      yield* clock.setRunning(running)
    }
    if (advance_ms != null || to != null) {
      if (!isAdjustable(clock)) return yield* notVirtual
      const due = nextDue(state)
      if (advance_ms == null && due === null) return yield* nothingDue
      const duration = advance_ms ?? due!.at - now(state)
      if (now(state) + duration > maxTime) {
        return yield* refusal.invalidPayload(`advance_ms: time goes no further than ${maxTime}`)
      }
      yield* clock.adjust(duration)
    }
    const view = yield* readClock(state)
    emit(state, { type: "clock", now: view.now, is_running: view.is_running })
    return view
  })
} satisfies Partial<Handlers>
