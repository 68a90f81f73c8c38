/**
 * The journal of an update: an operation that was carried out once for an update is not carried out again when its
 * handler is retried.
 *
 * While an update is handled, calls of endpoints that are not idempotent, such as `Messages.send`, are recorded with
 * the update. If the handler fails, or the process dies, the update is handled again. A call with the same request is
 * then not carried out again: the call returns the recorded answer. {@link step} does the same for any other effect.
 *
 * The rule: a call that was carried out for an update is not carried out again when a later attempt makes exactly the
 * same call. A call is identified by its endpoint, its request, and the number of earlier calls with this request. The
 * order of different calls does not matter, so handlers may run them concurrently, and may do something else in the
 * next attempt.
 *
 * The journal of an update is deleted when the update has been handled. A dead letter keeps its journal, so a replay
 * continues where the handler stopped. Outside of handling there is no journal, and all calls and steps are carried
 * out.
 *
 * Metrics: `colloquy_journal_replayed_total` counts calls whose recorded answer was returned.
 * `colloquy_journal_uncertain_total` counts calls whose outcome was not known, by `outcome`: see {@link Policy}.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { Uncertain } from "../client/ApiError.ts"
import * as FieldIssue from "../base/FieldIssue.ts"
import { CurrentLease } from "../client/internal/currentLease.ts"
import { CurrentKey, CurrentName, HasUniqueName } from "../client/internal/journal/current.ts"
import * as lists from "./internal/journal/list.ts"
import { textCodecOf } from "./internal/journal/results.ts"
import { CurrentSlots, makeSlots } from "../client/internal/journal/slots.ts"
import { CurrentUpdate } from "./internal/consumer/currentUpdate.ts"
import { randomId } from "../base/internal/randomId.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"

export { Uncertain }

/**
 * The decision about a call that may have been carried out: the process died, or the connection broke, after the
 * request may have left and before the answer was recorded.
 *
 * - `lookUp`: looks for the result of the call on the platform, and takes a result that is found as the answer.
 *   Otherwise the call is repeated.
 * - `repeat`: repeats the call. The effects of the call can happen twice.
 * - `skip`: does not repeat the call. The call fails with {@link Uncertain}.
 *
 * A function decides for each call.
 *
 * @category models
 * @since 0.1.0
 */
export type Policy = Decision | ((uncertain: Uncertain) => Effect.Effect<Decision>)

/**
 * The decision of a {@link Policy}.
 *
 * @category models
 * @since 0.1.0
 */
export type Decision = "lookUp" | "repeat" | "skip"

/**
 * The policy for calls that may have been carried out. Default: `"lookUp"`.
 *
 * `"lookUp"` finds messages and comments of the bot, by their text and attachments, where the bot may read the chat: as
 * an administrator of a chat or a channel. Where the platform refuses the lookup, and for all other calls and steps,
 * `"lookUp"` has the same effect as `"repeat"`.
 *
 * A call that is skipped fails with `RequestFailed` and the reason `Uncertain`; a step fails with {@link Uncertain}.
 * `Bot.run` does not retry a handler that fails with this error.
 *
 * **Example** (Rather no message than two)
 *
 * ```ts
 * import { Bot, Handler, Journal, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const order = Handler.on("message_created", (update) =>
 *   Messages.reply(update, "Your order was accepted").pipe(
 *     Effect.provideService(Journal.CurrentPolicy, "skip"),
 *     Effect.catchReason("RequestFailed", "Uncertain", (uncertain) => Effect.logWarning(uncertain.message))
 *   )
 * )
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentPolicy = Context.Reference<Policy>("@colloquy/core/Journal/CurrentPolicy", {
  defaultValue: () => "lookUp" as const
})

/**
 * Identifies the calls of an effect by a name, and not by their requests. Use a name where the request is different in
 * each attempt and yet means the same: a text with the time, or with a random number. The recorded answer is that of
 * the attempt that was carried out. Calls of one name are told apart by their order, as the steps of {@link step} are.
 *
 * **Example** (A text with the time)
 *
 * ```ts
 * import { Handler, Journal, Messages } from "@colloquy/core"
 * import { DateTime, Effect } from "effect"
 *
 * const greet = Handler.on("bot_started", (update) =>
 *   Effect.flatMap(DateTime.now, (now) => Messages.reply(update, `Started at ${DateTime.formatIso(now)}`)).pipe(
 *     Journal.named("greeting")
 *   )
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const named: {
  (name: string): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, name: string): Effect.Effect<A, E, R>
} = dual(2, <A, E, R>(self: Effect.Effect<A, E, R>, name: string) => Effect.provideService(self, CurrentName, name))

/**
 * The result of a step or a value of a list does not match its schema: a new value, or a value that was recorded before
 * the schema changed.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidStepResult extends PermanentTaggedError("InvalidStepResult", () => ({
  /** The name of the step. */
  step: Schema.String,
  /** The mismatch. */
  problem: Schema.String
})) {
  override get message() {
    return `The result of the step "${this.step}" does not match its schema: ${this.problem}. A schema that changed must accept old results too.`
  }
}

const invalidIn =
  (step: string) =>
  ({ issue }: Schema.SchemaError): InvalidStepResult =>
    new InvalidStepResult({ step, problem: FieldIssue.formatSchemaIssue(issue) })

/**
 * Runs an effect once for an update, and records its result: a call of another service, a payment, the answer of a
 * model. The result is recorded before the handler receives the result. When the handler is retried, the recorded
 * result is returned and the effect does not run. A failure is not recorded, so the effect runs again.
 *
 * Steps with the same name are told apart by their order, so each of several concurrent steps needs a name of its own.
 * A step that failed keeps its number: the next step with its name is another step in all attempts. `Effect.retry`
 * directly around a step repeats the same step, including the calls and steps in its effect. Around several steps,
 * `Effect.retry` runs each step anew: put the steps into one step, or into `Handler.transform`.
 *
 * If the process dies while the effect runs, the effect runs again in the next attempt, unless {@link CurrentPolicy} is
 * `"skip"`. To make a second run harmless, send {@link key} to the other service.
 *
 * Fails with {@link InvalidStepResult} if the result does not match the schema, and with {@link Uncertain} if the step may
 * have been carried out and is skipped. Outside of handling, the effect runs each time.
 *
 * **Example** (Charge a customer once)
 *
 * ```ts
 * import { Handler, Journal, Messages } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * declare const charge: (options: { readonly amount: number; readonly idempotencyKey: string }) => Effect.Effect<string, Error>
 *
 * const pay = Handler.on("message_callback", (update) =>
 *   Effect.gen(function* () {
 *     const receipt = yield* Journal.step(
 *       "charge",
 *       Schema.String,
 *       Effect.flatMap(Journal.key, (idempotencyKey) => charge({ amount: 500, idempotencyKey }))
 *     )
 *     yield* Messages.reply(update, `Paid, your receipt is ${receipt}`)
 *   })
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const step = <A, I, E, R>(
  name: string,
  schema: Schema.Codec<A, I>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | InvalidStepResult | Uncertain, R> => {
  const self: Effect.Effect<A, E | InvalidStepResult | Uncertain, R> = Effect.withFiber((fiber) => {
    const journal = fiber.getRef(CurrentUpdate)?.journal
    if (journal === undefined) return effect
    const context = Context.add(fiber.context as Context.Context<R>, HasUniqueName, false)
    const codec = textCodecOf(schema as Schema.Codec<unknown, unknown>)
    const invalid = invalidIn(name)
    const isUnique = fiber.getRef(HasUniqueName)
    const outer = fiber.getRef(CurrentKey) ?? journal.key
    // The process may have stood still while the start was recorded.
    const confirmed = fiber.getRef(CurrentLease)?.confirm ?? Effect.void
    const run = (slot: string) =>
      effect.pipe(
        Effect.provideService(CurrentKey, `${outer} ${slot}`),
        Effect.provideService(CurrentSlots, makeSlots(slot)),
        Effect.flatMap((value) =>
          Effect.mapBoth(codec.encode(value), {
            onSuccess: (text) => ({ value, text }),
            onFailure: invalid
          })
        ),
        Effect.provideContext(context)
      )
    return Effect.map(
      journal.call<{ readonly value: A; readonly text: string }, E | InvalidStepResult | Uncertain>({
        kind: "step",
        name,
        identity: isUnique ? undefined : self,
        run: (begin, slot) => Effect.andThen(Effect.andThen(begin, confirmed), run(slot)),
        // The result of an arbitrary effect cannot be looked up.
        isWrittenAtOnce: true,
        write: ({ text }) => text,
        read: (text) =>
          Effect.mapBoth(codec.decode(text), {
            onSuccess: (value) => ({ value: value as A, text }),
            onFailure: invalid
          }),
        isRefusal: () => true,
        toError: (uncertain) => uncertain
      }),
      ({ value }) => value
    )
  })
  return self
}

/**
 * Values that are recorded for an update while their number grows.
 *
 * @category models
 * @since 0.1.0
 */
export interface List<in out A> {
  /** The values that earlier attempts have recorded, in order. */
  readonly recorded: ReadonlyArray<A>
  /**
   * Adds a value. The value is recorded within a second, together with other values that are added meanwhile. Fails
   * with {@link InvalidStepResult} if the value does not match the schema.
   */
  readonly append: (value: A) => Effect.Effect<void, InvalidStepResult>
  /** Records the added values, and returns when the store has recorded them. */
  readonly flush: Effect.Effect<void>
}

/**
 * Opens a list of values that is recorded while the list grows, so that the next attempt of the handler can continue
 * where this attempt has ended: the imported rows of a file, the text that a model has written so far.
 *
 * The first value is recorded at once. Later values are recorded at most once a second, and when the scope closes. If
 * the process is killed, the values of the last second can be missing in the next attempt. Use `flush` before an
 * operation that must not happen without the values. If the store is unavailable when the scope closes, the values are
 * recorded in memory, and written with the next values.
 *
 * Lists with the same name are told apart by their order, so each of several concurrent lists needs a name of its own.
 * Outside of handling, no values are recorded. Fails with {@link InvalidStepResult} if a recorded value does not match
 * the schema.
 *
 * **Example** (An import that continues after the last row that was stored)
 *
 * ```ts
 * import { Handler, Journal, Messages } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * declare const rows: ReadonlyArray<string>
 * declare const store: (row: string) => Effect.Effect<void>
 *
 * const copy = Handler.on("bot_started", (update) =>
 *   Effect.gen(function* () {
 *     const stored = yield* Journal.list("stored", Schema.String)
 *     for (const row of rows.slice(stored.recorded.length)) {
 *       yield* store(row)
 *       yield* stored.append(row)
 *     }
 *     yield* Messages.reply(update, `${rows.length} rows were stored`)
 *   }).pipe(Effect.scoped)
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const list = <A, I>(
  name: string,
  schema: Schema.Codec<A, I>
): Effect.Effect<List<A>, InvalidStepResult, Scope.Scope> =>
  Effect.gen(function* () {
    const { append, close, flush, recorded, writing } = yield* lists.open(name, schema, invalidIn(name))
    yield* Effect.addFinalizer(() => close)
    yield* Effect.forkScoped(writing)
    return { append, flush, recorded }
  })

/**
 * A key for systems that accept idempotency keys. The key is the same in every attempt of an update, also after a
 * restart and after the replay of a dead letter, and different for each update. Within a {@link step}, the key is also
 * different for each step. Within the step of a conversation, the key is the same until the result of the step is
 * stored, also in later updates. Outside of handling, each run returns a new random key.
 *
 * @category keys
 * @since 0.1.0
 */
export const key: Effect.Effect<string> = Effect.withFiber((fiber) => {
  const journal = fiber.getRef(CurrentUpdate)?.journal
  return journal === undefined ? randomId : Effect.succeed(fiber.getRef(CurrentKey) ?? journal.key)
})
