import * as Backoff from "@colloquy/core/Backoff"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Redis from "effect/persistence/Redis"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { redisToStoreError } from "../stores/redis.ts"

const toStoreError = redisToStoreError("inbox")("listen")

const backoff = Backoff.make({ first: "500 millis", cap: "10 seconds" })

interface Options {
  readonly redis: Redis.Redis["Service"]
  readonly channel: string
  /** The name of this process, whose own messages are left out. */
  readonly sender: string
  /** Called when another process has sent a message. Messages that arrive together cause one call. */
  readonly wake: () => void
}

/**
 * Subscribes to a channel until the scope closes. After a failure it subscribes again, and then calls `wake`, because
 * messages were missed. Only the first failure in a row is logged. The connection exists only while this runs.
 */
export const listen = Effect.fnUntraced(function* ({ channel, redis, sender, wake }: Options) {
  const subscribed = yield* Latch.make(false)
  let isFailing = false
  const subscribeOnce = Effect.gen(function* () {
    const messages = yield* redis.subscribe(channel)
    yield* subscribed.open
    if (isFailing) wake()
    for (;;) {
      const all = yield* Effect.mapError(Queue.takeAll(messages), toStoreError)
      isFailing = false
      if (all.some(({ message }) => message !== sender)) wake()
    }
  })
  const onFailure = (error: StoreError) =>
    Effect.suspend(() => {
      const isFirst = !isFailing
      isFailing = true
      return isFirst
        ? Effect.logWarning(`${error.message} Until it succeeds, updates of other processes are found by polling.`)
        : Effect.void
    })
  yield* Effect.scoped(subscribeOnce).pipe(
    Effect.tapError(onFailure),
    Effect.retry(backoff),
    // The server runs in real time, also when the program runs with a test clock.
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()),
    Effect.withTracerEnabled(false),
    Effect.forkScoped
  )
  yield* subscribed.await
}) satisfies (options: Options) => Effect.Effect<void, never, Scope.Scope>
