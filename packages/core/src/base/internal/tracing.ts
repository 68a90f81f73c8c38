import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/**
 * Whether spans are created. Nothing can read the spans of the native tracer of Effect, so no span is created with this
 * tracer (benchmark `call-cpu-over-undici`).
 */
export const isTraced = (tracer: Tracer.Tracer): boolean => tracer !== Tracer.nativeTracer

/** Runs an effect in a span. The stack is not captured, because the stack is the same for all spans of a name. */
export const withSpan = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  name: string,
  options?: () => Tracer.SpanOptionsNoTrace
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    isTraced(fiber.getRef(Tracer.Tracer))
      ? Effect.withSpan(self, name, { ...options?.(), captureStackTrace: false })
      : self
  )
