import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CurrentUpdate } from "../consumer/currentUpdate.ts"
import { CurrentSlots } from "../../../client/internal/journal/slots.ts"

/** The time between two writes. */
const interval = "1 second"

const closeTimeout = "1 second"

/** Opens a list of the journal. Values that are appended are written while `writing` runs, by `flush` and by `close`. */
export const open = Effect.fnUntraced(function* <A, I, E>(
  name: string,
  schema: Schema.Codec<A, I>,
  invalid: (error: Schema.SchemaError) => E
) {
  const texts = (yield* CurrentUpdate)?.journal?.texts(name, yield* CurrentSlots)
  const decode = Schema.decodeEffect(Schema.fromJsonString(Schema.toCodecJson(Schema.Array(schema))))
  const recorded = yield* Effect.mapError(
    Effect.forEach(texts?.recorded ?? [], (text) => decode(text)),
    invalid
  )
  const encode = Schema.encodeResult(Schema.fromJsonString(Schema.toCodecJson(schema)))
  const added: Array<string> = []
  const changed = Latch.makeUnsafe(false)

  const flush = Effect.suspend(() => {
    if (texts === undefined) return Effect.void
    if (added.length > 0) texts.add(`[${added.splice(0).join(",")}]`)
    return texts.write
  })

  return {
    occurrence: texts?.occurrence ?? 1,
    recorded: recorded.flat(),
    /** Takes the value when the function is called, so that values of several fibers keep the order of the calls. */
    append: (value: A): Effect.Effect<void, E> => {
      if (texts === undefined) return Effect.void
      const encoded = encode(value)
      if (Result.isFailure(encoded)) return Effect.fail(invalid(encoded.failure))
      added.push(encoded.success)
      changed.openUnsafe()
      return Effect.void
    },
    flush,
    release: texts?.release ?? (() => {}),
    /** Records the remaining values, in memory if the store does not answer. */
    close: Effect.suspend(() => Effect.timeoutOption(Effect.interruptible(flush), closeTimeout)).pipe(
      Effect.exit,
      Effect.asVoid
    ),
    writing: Effect.forever(
      changed.await.pipe(
        Effect.andThen(Effect.sync(() => changed.closeUnsafe())),
        Effect.andThen(flush),
        Effect.andThen(Effect.sleep(interval))
      )
    )
  }
})
