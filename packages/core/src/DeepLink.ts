/**
 * Payloads of deep links: what `bot_started` brings when a person opened the bot by a link.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import type * as Schema from "effect/Schema"
import * as Handler from "./Handler.ts"
import { andHandle } from "./internal/handlers/andHandle.ts"
import { startPayloadLimit } from "./internal/client/assumptions.ts"
import * as payloadText from "./internal/handlers/payloadText.ts"
import { InvalidPayload } from "./Payload.ts"
import type * as Update from "./Update.ts"

/**
 * A person came by a link of this name whose payload cannot be read: it was cut, changed, or made by an older version of
 * the bot.
 *
 * @category errors
 * @since 0.1.0
 */
export class MalformedLink extends Data.TaggedError("MalformedLink")<{
  readonly name: string
  readonly problem: string
  readonly payload: string
  readonly update: Update.Of<"bot_started">
}> {
  /** The same update would fail again: `Updates.run` does not try it again. */
  readonly isRetryable = false

  override get message() {
    return (
      `the payload ${JSON.stringify(this.name)} of a deep link cannot be read: ${this.problem}. The link was cut or is ` +
      "out of date: greet the person as one who came without it."
    )
  }
}

/**
 * A kind of deep link. `payload` writes what the link carries; `on` makes a handler of `bot_started` with such a payload,
 * which has the value beside the update.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeepLink<in out A, out Malformed = never, out RD = never, out RE = never> {
  readonly name: string
  readonly payload: (value: A) => Effect.Effect<string, InvalidPayload, RE>
  readonly on: <O extends Handler.Outcome>(
    handler: (update: Update.Of<"bot_started">, value: A) => O
  ) => Handler.Handler<Effect.Error<O> | Malformed, Effect.Services<O> | RD>
}

const form: payloadText.Form = {
  limit: startPayloadLimit,
  separator: "-",
  write: Base64Url.encode,
  read: Base64Url.decodeString
}

/**
 * A kind of deep link by its name and the schema of what it carries. Without a schema the payload is the name; with one,
 * the name and the value follow each other in letters, digits, `_` and `-`, which no link changes, within 128 characters:
 * room for about 80 characters of JSON. The name is of letters, digits and `_`.
 *
 * A payload of another name, and a start without one, are none of its own: others have their turn.
 *
 * Errors: `InvalidPayload` where it is made, {@link MalformedLink} where it comes and cannot be read.
 *
 * **Example**
 *
 * ```ts
 * import { DeepLink, Handler, Messages, User } from "@colloquy/core"
 * import { Schema } from "effect"
 *
 * const invitation = DeepLink.make("invitation", Schema.Struct({ by: User.UserId }))
 *
 * const payload = invitation.payload({ by: User.UserId.make(123456789) })
 *
 * const start = Handler.first(
 *   invitation.on((update, { by }) => Messages.reply(update, `Welcome, guest of ${by}`)),
 *   Handler.on("bot_started", (update) => Messages.reply(update, "Welcome"))
 * )
 * ```
 *
 * API: Events.
 *
 * @assumption C A deep link brings letters, digits, `_` and `-` of its payload unchanged.
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  (name: string): DeepLink<void>
  <S extends Schema.Constraint>(
    name: string,
    schema: S
  ): DeepLink<S["Type"], MalformedLink, S["DecodingServices"], S["EncodingServices"]>
} = <A, RD, RE>(name: string, schema?: Schema.ConstraintCodec<A, unknown, RD, RE>) => {
  const codec = payloadText.make(name, schema, form)
  const self: DeepLink<A, MalformedLink, RD, RE> = {
    name,
    payload: (value) => Effect.mapError(codec.encode(value), (problem) => new InvalidPayload({ name, problem })),
    on: (handler) =>
      Handler.on("bot_started", (update) => {
        const payload = update.payload ?? ""
        const read = codec.decode(payload)
        if (read === undefined) return undefined
        const value = Effect.mapError(read, (problem) => new MalformedLink({ name, problem, payload, update }))
        return andHandle(value, (value) => handler(update, value))
      })
  }
  return self as never
}
