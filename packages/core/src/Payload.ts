/**
 * Payloads of callback buttons, typed by a schema from the button to its press.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Handler from "./Handler.ts"
import { andHandle } from "./internal/handlers/andHandle.ts"
import { callbackPayload } from "./internal/client/keyboardLimits.ts"
import * as payloadText from "./internal/handlers/payloadText.ts"
import * as Keyboard from "./Keyboard.ts"
import type * as Update from "./Update.ts"

/**
 * A value does not make a payload: it is too long, or its schema refuses it.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidPayload extends Data.TaggedError("InvalidPayload")<{
  readonly name: string
  readonly problem: string
}> {
  /** The same update would fail again: `Updates.run` does not try it again. */
  readonly isRetryable = false

  override get message() {
    return `the payload ${JSON.stringify(this.name)} cannot be made: ${this.problem}.`
  }
}

/**
 * A button of this name was pressed, and its payload cannot be read: an older version of the bot may have sent it.
 *
 * @category errors
 * @since 0.1.0
 */
export class MalformedPayload extends Data.TaggedError("MalformedPayload")<{
  readonly name: string
  readonly problem: string
  readonly payload: string
  readonly update: Update.Of<"message_callback">
}> {
  /** The same update would fail again: `Updates.run` does not try it again. */
  readonly isRetryable = false

  override get message() {
    return (
      `the payload ${JSON.stringify(this.name)} of a pressed button cannot be read: ${this.problem}. An older version of ` +
      "the bot may have sent it: answer that the button is out of date."
    )
  }
}

/**
 * A kind of payload. `button` makes a callback button that carries a value, `encode` the bare payload; `on` makes a
 * handler of presses of such buttons, which has the value beside the update.
 *
 * @category models
 * @since 0.1.0
 */
export interface Payload<in out A, out Malformed = never, out RD = never, out RE = never> {
  readonly name: string
  readonly encode: (value: A) => Effect.Effect<string, InvalidPayload, RE>
  readonly button: (text: string, value: A) => Effect.Effect<Keyboard.Button, InvalidPayload, RE>
  readonly on: <O extends Handler.Outcome>(
    handler: (update: Update.Of<"message_callback">, value: A) => O
  ) => Handler.Handler<Effect.Error<O> | Malformed, Effect.Services<O> | RD>
}

const form: payloadText.Form = {
  limit: callbackPayload,
  separator: ":",
  write: (json) => json,
  read: Result.succeed
}

/**
 * A kind of payload by its name and the schema of what it carries; without a schema it carries nothing. It is written as
 * the name and JSON, within 1024 characters. The name is of letters, digits and `_`, and no other kind may have it.
 *
 * A payload of another name is none of its own: others have their turn.
 *
 * Errors: {@link InvalidPayload} where it is made, {@link MalformedPayload} where it comes back and cannot be read.
 *
 * **Example**
 *
 * ```ts
 * import { Answers, Handler, Keyboard, Messages, Payload } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const vote = Payload.make("vote", Schema.Struct({ poll: Schema.Int, choice: Schema.Literals(["yes", "no"]) }))
 *
 * const ask = Handler.on("bot_started", (update) =>
 *   Effect.gen(function* () {
 *     const yes = yield* vote.button("Yes", { poll: 7, choice: "yes" })
 *     const no = yield* vote.button("No", { poll: 7, choice: "no" })
 *     yield* Messages.reply(update, { text: "Shall we?", attachments: [Keyboard.make([yes, no])] })
 *   })
 * )
 *
 * const count = vote.on((update, { choice }) => Answers.answer(update, `You said ${choice}`))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  (name: string): Payload<void>
  <S extends Schema.Constraint>(
    name: string,
    schema: S
  ): Payload<S["Type"], MalformedPayload, S["DecodingServices"], S["EncodingServices"]>
} = <A, RD, RE>(name: string, schema?: Schema.ConstraintCodec<A, unknown, RD, RE>) => {
  const codec = payloadText.make(name, schema, form)
  const encode = (value: A) => Effect.mapError(codec.encode(value), (problem) => new InvalidPayload({ name, problem }))
  const self: Payload<A, MalformedPayload, RD, RE> = {
    name,
    encode,
    button: (text, value) => Effect.map(encode(value), (payload) => Keyboard.callback(text, payload)),
    on: (handler) =>
      Handler.on("message_callback", (update) => {
        const payload = update.callback.payload ?? ""
        const read = codec.decode(payload)
        if (read === undefined) return undefined
        const value = Effect.mapError(read, (problem) => new MalformedPayload({ name, problem, payload, update }))
        return andHandle(value, (value) => handler(update, value))
      })
  }
  return self as never
}
