import type * as Clock from "effect/Clock"

/** The monotonic time in milliseconds. */
export const monoNow = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
