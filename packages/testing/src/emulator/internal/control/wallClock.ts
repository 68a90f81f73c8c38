import type * as Clock from "effect/Clock"
import { hasProperty } from "effect/Predicate"

/** The system clock. A caller waits in real time, even if the emulator runs in virtual time. */
export const wallClock = (clock: Clock.Clock): Clock.Clock =>
  hasProperty(clock, "system") ? (clock.system as Clock.Clock) : clock

/** The time in milliseconds of real time. */
export const realTime = (clock: Clock.Clock): number => Math.floor(wallClock(clock).currentTimeMillisUnsafe())
