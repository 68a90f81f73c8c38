import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Inbox } from "../../Inbox.ts"
import type { Update } from "../../Update.ts"
import { type Reader, make } from "./leases.ts"

/** A letter that was given out, and is settled when the next one is asked for. */
interface Given {
  readonly key: string
  readonly id: string
}

const settle = (reader: Reader, { key, id }: Given) => reader.settle(key, { id }, true)

/** The updates of an inbox one after the other, the oldest first. */
export const sequence = Effect.fnUntraced(function* <E>(inbox: Inbox["Service"], intake: Effect.Effect<void, E>) {
  const reader = yield* make(inbox)
  const clock = yield* Clock.Clock
  const source = yield* reader.start(intake)

  const next: Effect.Effect<readonly [ReadonlyArray<Update>, Option.Option<Given>], E> = Effect.gen(function* () {
    for (;;) {
      const wasOver = source.pollUnsafe() !== undefined
      const [mailbox] = yield* reader.claim(() => 1, 1)
      if (mailbox === undefined) {
        if (wasOver) {
          yield* Fiber.join(source)
          return [[], Option.none()]
        }
        if (source.pollUnsafe() === undefined) yield* reader.more
        continue
      }
      const [first] = mailbox.letters
      // Somebody may have taken its letters out of the database.
      if (first === undefined) {
        yield* reader.settle(mailbox.key, undefined, true)
        continue
      }
      const { id, letter } = first
      if (Result.isSuccess(letter.read)) return [[letter.read.success], Option.some({ key: mailbox.key, id })]
      const death = { problem: letter.read.failure.message, attempts: 0, at: clock.currentTimeMillisUnsafe() }
      yield* reader.settle(mailbox.key, { id, death }, true)
    }
  })

  return Stream.paginate(undefined as Given | undefined, (given) =>
    given === undefined ? next : Effect.andThen(settle(reader, given), next)
  )
})
