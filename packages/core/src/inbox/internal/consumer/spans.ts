import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"
import { isTraced } from "../../../base/internal/tracing.ts"
import { annotationsOf } from "./annotations.ts"
import type { Settleable } from "./settlement.ts"

const attributesOf = ({ updates }: Settleable<unknown>): Record<string, unknown> => {
  const [first] = updates
  if (first === undefined || updates.length > 1) return { "messaging.batch.message_count": updates.length }
  const { value } = first
  return { ...annotationsOf(value), ...(value.update_type === "colloquy_timer" ? { timer: value.name } : {}) }
}

/** The span of a delivery that is being handled or settled. */
interface Open {
  readonly span: Tracer.Span
  /** The exit of the handler. A handler that declines the delivery has not failed. */
  exit: Exit.Exit<unknown, unknown>
}

/**
 * The spans of a pool: `Updates.handle` from the start of a handler until its delivery is settled, and in this span
 * `Updates.handler` and `Updates.commit`. Returns `undefined` if nothing can read the spans.
 */
export const makeSpans = (context: Context.Context<never>, isDeclined: (cause: Cause.Cause<never>) => boolean) => {
  if (!isTraced(Context.get(context, Tracer.Tracer))) return undefined
  const clock = Context.get(context, Clock.Clock)
  const make = Effect.runSyncWith(context)
  const open = new Map<Settleable<unknown>, Open>()
  const end = (span: Tracer.Span, exit: Exit.Exit<unknown, unknown>): void =>
    span.end(clock.currentTimeNanosUnsafe(), exit)

  return {
    /** Runs the handler of a delivery in its spans. */
    handler: <A, E, R>(delivery: Settleable<unknown>, handler: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
      const span = make(Effect.makeSpan("Updates.handle", { kind: "consumer", attributes: attributesOf(delivery) }))
      const traced: Open = { span, exit: Exit.void }
      open.set(delivery, traced)
      const exited = Effect.map(handler, (result): Effect.Effect<A, E> => Effect.succeed(result))
      const declined = Effect.catchCauseIf(
        exited,
        (cause) => isDeclined(cause as Cause.Cause<never>),
        (cause) => Effect.succeed(Effect.failCause(cause))
      )
      const options = { parent: span, attributes: { attempt: delivery.attempt }, captureStackTrace: false }
      const inSpan = Effect.withSpan(declined, "Updates.handler", options)
      return Effect.flatten(
        Effect.onExit(inSpan, (exit) => {
          traced.exit = exit
          return Effect.void
        })
      ) as Effect.Effect<A, E, R>
    },
    /** Runs an effect that settles deliveries in a span of each delivery. */
    commit: <A, E>(deliveries: ReadonlyArray<Settleable<unknown>>, settle: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const spans = deliveries.flatMap((delivery) => {
          const parent = open.get(delivery)?.span
          return parent === undefined ? [] : [make(Effect.makeSpan("Updates.commit", { parent }))]
        })
        return Effect.onExit(settle, (exit) => Effect.sync(() => spans.forEach((span) => end(span, exit))))
      }),
    /** Ends the spans of deliveries that are settled, or that an operator of a stream passes on. */
    end: (deliveries: ReadonlyArray<Settleable<unknown>>): void => {
      for (const delivery of deliveries) {
        const traced = open.get(delivery)
        if (traced === undefined) continue
        open.delete(delivery)
        end(traced.span, traced.exit)
      }
    }
  }
}
