import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Runs an effect for at most this time by the clock of the system, even if the program has another clock. */
export const timeoutBySystemClock = <A, E, R>(self: Effect.Effect<A, E, R>, duration: Duration.Input) =>
  Effect.provideService(Effect.timeoutOption(self, duration), Clock.Clock, Clock.Clock.defaultValue())
