/**
 * Typed payloads of deep links: a schema encodes the value of a link, and decodes the value from the `bot_started`
 * update.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Schema from "effect/Schema"
import type * as Handler from "../inbox/Handler.ts"
import * as payload from "./internal/handlers/payload.ts"
import { InvalidPayload } from "./Payload.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"
import * as Platform from "../base/Platform.ts"
import * as Update from "../model/Update.ts"

/**
 * A user opened a link with a payload of this name, and its value cannot be decoded. The link was truncated or changed,
 * or was created by an older version of the bot.
 *
 * @category errors
 * @since 0.1.0
 */
export class MalformedLink extends PermanentTaggedError("MalformedLink", () => ({
  /** The name of the payload. */
  linkName: Schema.String,
  /** The problem of the payload. */
  problem: Schema.String,
  /** The payload as it was received. */
  payload: Schema.String,
  /** The update that brought the payload. */
  update: Update.Update as Schema.Codec<Update.Of<"bot_started">, unknown>
})) {
  override get message() {
    return (
      `Cannot decode the payload ${JSON.stringify(this.linkName)} of a deep link: ${this.problem}. The link was truncated, ` +
      "changed, or created by an older version of the bot. Greet the user as if there were no payload."
    )
  }
}

/**
 * A kind of deep link, with a name and the type `A` of its value.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeepLink<in out A, out Malformed = never, out RD = never, out RE = never> {
  /** The name, which distinguishes deep links of this kind from others. */
  readonly name: string
  /** Returns the payload to put into the link. Fails with `Payload.InvalidPayload`. */
  readonly encode: (value: A) => Effect.Effect<string, InvalidPayload, RE>
  /**
   * Handles `bot_started` with a payload of this kind. The handler receives the update and the decoded value. Fails with
   * {@link MalformedLink} if the value cannot be decoded.
   */
  readonly on: <O extends Handler.Return>(
    handler: (update: Update.Of<"bot_started">, value: A) => O
  ) => Handler.Handler<Handler.ReturnError<O> | Malformed, Effect.Services<O> | RD>
}

const format: payload.Format = {
  maxLength: Platform.maxStartPayloadLength,
  separator: "-",
  encode: Base64Url.encode,
  decode: Base64Url.decodeString
}

/**
 * Creates a kind of deep link from its name and the schema of its value. Without a schema the link has no value.
 *
 * A payload is written as the name, `-` and the JSON of the value in Base64Url, so a payload contains only letters,
 * digits, `_` and `-`. Without a value, the payload is the name alone. A payload has at most 128 characters, which is
 * enough for about 80 characters of JSON. The name may contain letters, digits and `_`, and must be unique within a
 * bot. The handlers of `on` do not take a `bot_started` without a payload or with a payload of another name.
 *
 * Errors: `Payload.InvalidPayload` when a payload is created, {@link MalformedLink} when a received payload of this name
 * cannot be decoded.
 *
 * Old versions of the messenger open the dialog without the payload, and `/start` that a user types is a
 * `message_created` without a payload, so the bot should also greet users without a payload.
 *
 * **Example** (An invitation)
 *
 * ```ts
 * import { DeepLink, Handler, Messages, User } from "@colloquy/core"
 * import { Schema } from "effect"
 *
 * const invitation = DeepLink.make("invitation", Schema.Struct({ by: User.UserId }))
 *
 * const payload = invitation.encode({ by: User.UserId.make(123456789) })
 *
 * const start = Handler.first(
 *   invitation.on((update, { by }) => Messages.reply(update, `Welcome, guest of ${by}`)),
 *   Handler.on("bot_started", (update) => Messages.reply(update, "Welcome"))
 * )
 * ```
 *
 * API: Events.
 *
 * @assumption startPayloadCharacters
 * @assumption oldAppsStart
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  (name: string): DeepLink<void>
  <S extends Schema.Constraint>(
    name: string,
    schema: S
  ): DeepLink<S["Type"], MalformedLink, S["DecodingServices"], S["EncodingServices"]>
} = (name: string, schema?: Schema.ConstraintCodec<unknown, unknown, unknown, unknown>) => {
  const self: DeepLink<unknown, MalformedLink, unknown, unknown> = payload.make(name, schema, {
    kind: "link",
    format,
    type: "bot_started",
    payloadOf: (update) => update.payload,
    invalid: (problem) => new InvalidPayload({ payloadName: name, problem }),
    malformed: (problem, payload, update) => new MalformedLink({ linkName: name, problem, payload, update })
  })
  return self as never
}
