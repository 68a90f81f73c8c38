/**
 * Rules that inject faults into requests and webhook deliveries. A rule is plain data, so the same rules can be used in a
 * test and in the JSON of `PUT /_emulator/faults`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as faultRules from "./internal/platform/faultRules.ts"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

const fields = {
  /** Selects requests by their method. */
  method: Schema.optionalKey(Schema.String.check(Schema.makeFilter(faultRules.problemOfMethod))),
  /**
   * Selects requests by their path: `*` matches anything, `{chatId}` one segment. Paths of uploads begin with `/upload/`,
   * paths of images with `/images/`, and
   * those of other files with `/files/`.
   */
  path: Schema.optionalKey(Schema.String.check(Schema.makeFilter(faultRules.problemOfPath))),
  /** Selects requests by the name of their endpoint, such as `Messages.send`. */
  endpoint: Schema.optionalKey(faultRules.EndpointName),
  /** Selects deliveries by the type of the update. */
  update_type: Schema.optionalKey(Schema.String.check(Schema.makeFilter(faultRules.problemOfUpdateType))),
  /** Selects requests and deliveries that concern this chat, also if the request names a user or a message. */
  chat_id: Schema.optionalKey(Schema.Int),

  /** Applies only to the nth match, counted from 1. */
  nth: Schema.optionalKey(count),
  /** Applies only to every nth match. */
  every: Schema.optionalKey(count),
  /** Applies to each match with this probability. The same `seed` selects the same matches. Default of `seed`: 0. */
  probability: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  seed: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite])),
  /** Maximum number of times that the rule is applied. Default: no limit. */
  times: Schema.optionalKey(count),
  /** For how long the rule applies, in milliseconds of the emulator's clock. Default: until the rule is removed. */
  lasts: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),

  /** The status of the response. The request is not executed. */
  status: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))),
  /** The code and the message of the error body. Default: the code and message of the status. */
  code: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String),
  /** The whole body: a string is sent unchanged, any other value as JSON. Default of `status`: 200. */
  body: Schema.optionalKey(Schema.Unknown),
  /** Headers of the response, also of a response of the platform. `content-length` and similar headers are not allowed. */
  headers: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String).check(Schema.makeFilter(faultRules.problemOfHeaders))
  ),
  /** Delay of the response in milliseconds. The request is executed immediately, even if the client gives up. */
  delay: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  /** Resets the connection `before` the request is executed, or `after`. */
  reset: Schema.optionalKey(Schema.Literals(["before", "after"])),
  /**
   * Number of characters of the body that are sent, or of bytes of a file. The response is complete after them. With
   * `reset: "after"`, `content-length` is the length of the whole body, and the connection is reset.
   */
  truncate: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /**
   * The `body` of messages that only forward another: `null`, or no key, as the API document allows. Default: a body
   * with `mid`, `seq` and an empty `text`. Applies to updates if the rule has `update_type`, to responses if it has
   * `method`, `path` or `endpoint`, and to both otherwise.
   */
  forward_body: Schema.optionalKey(Schema.Literals(["null", "absent"])),
  /**
   * The `text` of messages without a text: `null`, or no key, as the API document allows. Default: an empty `text`.
   * Applies as `forward_body` does.
   */
  empty_text: Schema.optionalKey(Schema.Literals(["null", "absent"])),
  /** `"absent"`: quotes of messages and comments are not recognized, and their text remains. Applies as `forward_body` does. */
  quote_markup: Schema.optionalKey(Schema.Literals(["absent"])),
  /** Drops or duplicates the delivery of an update. */
  delivery: Schema.optionalKey(Schema.Literals(["drop", "duplicate"]))
}

/**
 * A rule selects requests or deliveries (default: all), selects some of the matches (default: all), and defines a
 * fault. Each rule counts its matches separately. If several rules apply, the first rule is the outermost.
 *
 * **Example**
 *
 * ```ts
 * import type { Faults } from "@colloquy/testing"
 *
 * const rules: ReadonlyArray<Faults.Rule> = [
 *   { endpoint: "Messages.send", nth: 1, status: 503 },
 *   { path: "/chats/*", every: 3, status: 429, code: "too.many.requests", headers: { "retry-after": "1" } },
 *   { method: "POST", path: "/upload/*", reset: "after", times: 1 },
 *   { path: "/chats/{chatId}", truncate: 10, reset: "after" },
 *   { probability: 0.1, seed: 7, delay: 3000 },
 *   { update_type: "message_created", delivery: "duplicate" }
 * ]
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const Rule = Schema.Struct(fields).check(Schema.makeFilter((rule) => faultRules.problemOfRule(rule)))

/**
 * @category models
 * @since 0.1.0
 */
export interface Rule extends Schema.Schema.Type<typeof Rule> {}
