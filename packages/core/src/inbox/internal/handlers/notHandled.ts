import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { NotHandled } from "../../Handler.ts"

export const NotHandledTypeId = "~@colloquy/core/Handler/NotHandled"

export const isNotHandled = (u: unknown): u is NotHandled => Predicate.hasProperty(u, NotHandledTypeId)

/** A cause that also has another failure or a defect is a failure of the handler. */
export const isNotHandledCause = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.length > 0 && cause.reasons.every((reason) => Cause.isFailReason(reason) && isNotHandled(reason.error))

export const notHandled: Effect.Effect<never, NotHandled> = Effect.fail({
  [NotHandledTypeId]: NotHandledTypeId,
  _tag: "NotHandled"
})
