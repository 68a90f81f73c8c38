import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** A clock that differs from another one. The monotonic time does not. */
export const shifted = (clock: Clock.Clock, by: () => number): Clock.Clock => {
  const millis = () => clock.currentTimeMillisUnsafe() + by()
  const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(by()) * 1_000_000n
  return Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    sleep: (duration: Parameters<Clock.Clock["sleep"]>[0]) => clock.sleep(duration)
  })
}
