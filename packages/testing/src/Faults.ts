/**
 * Rules that inject faults into requests and webhook deliveries. A rule is plain data, so the same rules can be used in a
 * test and in the JSON of `PUT /_emulator/faults`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import {
  EndpointName,
  problemOfHeaders,
  problemOfMethod,
  problemOfPath,
  problemOfRule,
  problemOfUpdateType
} from "./internal/platform/faultRules.ts"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

const fields = {
  /** Of requests: the method. */
  method: Schema.optionalKey(Schema.String.check(Schema.makeFilter(problemOfMethod))),
  /**
   * Of requests: the path; `*` stands for anything, `{chatId}` for one part of it. Addresses of uploads begin with
   * `/upload/`, images with `/images/`.
   */
  path: Schema.optionalKey(Schema.String.check(Schema.makeFilter(problemOfPath))),
  /** Of requests: the endpoint by the name of its function, as `Messages.send`. */
  endpoint: Schema.optionalKey(EndpointName),
  /** Of deliveries: the type of the update. */
  update_type: Schema.optionalKey(Schema.String.check(Schema.makeFilter(problemOfUpdateType))),
  /** The chat that the request or the update is about; a dialog counts by its chat, however it was named. */
  chat_id: Schema.optionalKey(Schema.Int),

  /** Only the nth of those that match, counted from 1. */
  nth: Schema.optionalKey(count),
  /** Only each nth of those that match. */
  every: Schema.optionalKey(count),
  /** Each of those that match, with this probability: the same ones for the same `seed`, which is 0 unless told. */
  probability: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  seed: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite])),
  /** How often the rule strikes in all; without end unless told. */
  times: Schema.optionalKey(count),

  /** Answers with this status; the request is not carried out. */
  status: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))),
  /** The code and the message of the error body; each status has its own unless told. */
  code: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String),
  /** The whole body: a text as it is, anything else as JSON. With the status 200 unless told. */
  body: Schema.optionalKey(Schema.Unknown),
  /** Headers of the answer, whosever it is. Those that tell where it ends are the server's. */
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String).check(Schema.makeFilter(problemOfHeaders))),
  /** Milliseconds that the answer comes late. The request is carried out at once, even if the caller gives up. */
  delay: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  /** The connection breaks: `before` the request is carried out, or `after`. */
  reset: Schema.optionalKey(Schema.Literals(["before", "after"])),
  /**
   * How much of the answer's body is sent: this many characters, or bytes of a picture. The answer ends there, as if that
   * were all; with `reset: "after"` the whole is promised, and the connection breaks there.
   */
  truncate: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /**
   * The `body` of messages that only forward another: `null`, or no key, as the API document allows. Without it, such a
   * body has `mid` and `seq`. Applies to updates if the rule has `update_type`, to responses if it has `method`, `path`
   * or `endpoint`, and to both otherwise.
   */
  forward_body: Schema.optionalKey(Schema.Literals(["null", "absent"])),
  /** What becomes of the delivery of an update. */
  delivery: Schema.optionalKey(Schema.Literals(["drop", "duplicate"]))
}

/**
 * A rule. It selects requests or deliveries (default: all), selects some of the matching ones (default: all), and defines a
 * fault. Each rule counts its matches separately. If several rules apply, the first one is the outermost.
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
export const Rule = Schema.Struct(fields).check(Schema.makeFilter((rule) => problemOfRule(rule)))

/**
 * @category models
 * @since 0.1.0
 */
export interface Rule extends Schema.Schema.Type<typeof Rule> {}
