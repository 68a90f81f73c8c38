import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** For how long a model, or another source of a text, may be silent. */
export const defaultIdleTimeout: Duration.Input = "60 seconds"

export interface Idle<E> {
  readonly timeout: Duration.Duration
  /** Whether the stream waits for work that may take longer. Default: `false`. */
  readonly isBusy?: (() => boolean) | undefined
  readonly error: () => E & { readonly message: string }
}

/** Fails a stream that emits nothing for a time, and logs the failure. The time of the consumer does not count. */
export const failWhenIdle = <A, E, R, E2>(
  self: Stream.Stream<A, E, R>,
  { error, isBusy = () => false, timeout }: Idle<E2>
): Stream.Stream<A, E | E2, R> => {
  if (!Duration.isFinite(timeout)) return self
  const silence: Effect.Effect<never, E2> = Effect.flatMap(Effect.sleep(timeout), (): Effect.Effect<never, E2> => {
    if (isBusy()) return silence
    const failure = error()
    return Effect.andThen(Effect.logWarning(failure.message), Effect.fail(failure))
  })
  // The timer is set before the pull begins, so of two limits of the same length, the outer limit fails.
  return Stream.transformPull(self, (pull) => Effect.succeed(Effect.raceFirst(silence, pull)))
}
