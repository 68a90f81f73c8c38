import type * as Effect from "effect/Effect"
import * as Handler from "../../Handler.ts"

/** Returns the effect of a handler. If the handler declines the update, the effect fails with `NotHandled`. */
export const toEffect = <O extends Handler.Return>(
  returned: O
): Effect.Effect<unknown, Handler.ReturnError<O> | Handler.NotHandled, Effect.Services<O>> =>
  (returned as Handler.Return<Handler.ReturnError<O> | Handler.NotHandled, Effect.Services<O>>) ?? Handler.notHandled
