import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Inbox } from "../../Inbox.ts"
import type { Update } from "../../Update.ts"
import { type Reader, make } from "./leases.ts"

/** An update that was given out, and is completed when the next one is asked for. */
interface Given {
  readonly key: string
  readonly id: string
}

const commit = (reader: Reader, { key, id }: Given) => reader.commit(key, { id }, true)

/** The updates of an inbox one after the other, the oldest first. */
export const sequence = Effect.fnUntraced(function* <E>(inbox: Inbox["Service"], source: Effect.Effect<void, E>) {
  const reader = yield* make(inbox)
  const clock = yield* Clock.Clock
  const fiber = yield* reader.start(source)

  const next: Effect.Effect<readonly [ReadonlyArray<Update>, Option.Option<Given>], E> = Effect.gen(function* () {
    for (;;) {
      const wasOver = fiber.pollUnsafe() !== undefined
      const [partition] = yield* reader.claim(() => 1, 1)
      if (partition === undefined) {
        if (wasOver) {
          yield* Fiber.join(fiber)
          return [[], Option.none()]
        }
        if (fiber.pollUnsafe() === undefined) yield* reader.more
        continue
      }
      const [first] = partition.updates
      // Somebody may have taken its updates out of the database.
      if (first === undefined) {
        yield* reader.commit(partition.key, undefined, true)
        continue
      }
      const { id, update } = first
      if (Result.isSuccess(update.decoded)) return [[update.decoded.success], Option.some({ key: partition.key, id })]
      const failure = { error: update.decoded.failure.message, attempts: 0, failedAt: clock.currentTimeMillisUnsafe() }
      yield* reader.commit(partition.key, { id, failure }, true)
    }
  })

  return Stream.paginate(undefined as Given | undefined, (given) =>
    given === undefined ? next : Effect.andThen(commit(reader, given), next)
  )
})
