/**
 * Typed payloads of callback buttons: a schema encodes the value of a button, and decodes the value when the button is
 * pressed.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Handler from "../inbox/Handler.ts"
import * as payload from "./internal/handlers/payload.ts"
import * as Keyboard from "../model/Keyboard.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"
import * as Platform from "../base/Platform.ts"
import * as Update from "../model/Update.ts"

/**
 * A value cannot be written as the payload of a button or of a deep link: the payload is too long, the schema rejects
 * the value, or the name has other characters than letters, digits and `_`.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidPayload extends PermanentTaggedError("InvalidPayload", () => ({
  /** The name of the payload. */
  payloadName: Schema.String,
  /** The problem of the payload. */
  problem: Schema.String
})) {
  override get message() {
    return `Cannot create the payload ${JSON.stringify(this.payloadName)}: ${this.problem}.`
  }
}

/**
 * A button with a payload of this name was pressed, and its value cannot be decoded. The button was probably sent by an
 * older version of the bot.
 *
 * @category errors
 * @since 0.1.0
 */
export class MalformedPayload extends PermanentTaggedError("MalformedPayload", () => ({
  /** The name of the payload. */
  payloadName: Schema.String,
  /** The problem of the payload. */
  problem: Schema.String,
  /** The payload as it was received. */
  payload: Schema.String,
  /** The update that brought the payload. */
  update: Update.Update as Schema.Codec<Update.Of<"message_callback">, unknown>
})) {
  override get message() {
    return (
      `Cannot decode the payload ${JSON.stringify(this.payloadName)} of a button: ${this.problem}. The button was probably ` +
      "sent by an older version of the bot. Answer the callback with a notice that the button is out of date."
    )
  }
}

/**
 * A kind of payload, with a name and the type `A` of its value.
 *
 * @category models
 * @since 0.1.0
 */
export interface Payload<in out A, out Malformed = never, out RD = never, out RE = never> {
  /** The name, which distinguishes payloads of this kind from others. */
  readonly name: string
  /** Returns the payload of a button. Fails with {@link InvalidPayload}. */
  readonly encode: (value: A) => Effect.Effect<string, InvalidPayload, RE>
  /** Returns a callback button with this text and the payload. Fails with {@link InvalidPayload}. */
  readonly button: (text: string, value: A) => Effect.Effect<Keyboard.Button, InvalidPayload, RE>
  /**
   * Handles callbacks of buttons with a payload of this kind. The handler receives the update and the decoded value.
   * Fails with {@link MalformedPayload} if the value cannot be decoded.
   */
  readonly on: <O extends Handler.Return>(
    handler: (update: Update.Of<"message_callback">, value: A) => O
  ) => Handler.Handler<Handler.ReturnError<O> | Malformed, Effect.Services<O> | RD>
}

const format: payload.Format = {
  maxLength: Platform.maxCallbackPayloadLength,
  separator: ":",
  encode: (json) => json,
  decode: Result.succeed
}

/**
 * Creates a kind of payload from its name and the schema of its value. Without a schema the payload has no value.
 *
 * A payload is written as the name, `:` and JSON: `vote:{"poll":7}`. Without a value, the payload is the name alone. A
 * payload has at most 1024 characters. The name may contain letters, digits and `_`, and must be unique within a bot.
 * Names that begin with `menu_` belong to menus. The handlers of `on` do not take callbacks with a payload of another
 * name.
 *
 * Errors: {@link InvalidPayload} when a payload is created, {@link MalformedPayload} when a received payload of this
 * name cannot be decoded.
 *
 * **Example** (A vote)
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
 *     yield* Messages.reply(update, { text: "Shall we meet?", attachments: [Keyboard.make([yes, no])] })
 *   })
 * )
 *
 * const count = vote.on((update, { choice }) => Answers.answer(update, `You said ${choice}`))
 * ```
 *
 * API: Events.
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
} = (name: string, schema?: Schema.ConstraintCodec<unknown, unknown, unknown, unknown>) => {
  const named = payload.make(name, schema, {
    kind: "button",
    format,
    type: "message_callback",
    payloadOf: ({ callback }) => callback.payload,
    invalid: (problem) => new InvalidPayload({ payloadName: name, problem }),
    malformed: (problem, payload, update) => new MalformedPayload({ payloadName: name, problem, payload, update })
  })
  const self: Payload<unknown, MalformedPayload, unknown, unknown> = {
    ...named,
    button: (text, value) => Effect.map(named.encode(value), (payload) => Keyboard.callback(text, payload))
  }
  return self as never
}
