import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** A clock that is ahead of the real one, or behind it. */
export const shifted = (millis: number): Clock.Clock => {
  const clock = Clock.Clock.defaultValue()
  return {
    ...clock,
    sleep: (duration) => clock.sleep(duration),
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(millis) * 1_000_000n,
    currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + BigInt(millis) * 1_000_000n)
  }
}
