import type * as Effect from "effect/Effect"
import type * as Update from "../../../model/Update.ts"
import type { Handler, NotHandled, Return, ReturnError } from "../../Handler.ts"
import { narrow } from "./narrow.ts"
import { withPartsOf } from "./parts.ts"

/** The handler of `Handler.on`, for types that are a type parameter of the caller. */
export const onTypes = <const Type extends Update.Update["update_type"], O extends Return>(
  types: Type | ReadonlyArray<Type>,
  handler: (update: Update.Of<Type>) => O
): Handler<ReturnError<O>, Effect.Services<O>> => {
  const narrowed = narrow(types)
  return withPartsOf((update) => {
    const taken = narrowed(update)
    return taken === undefined ? undefined : (handler(taken) as Return<ReturnError<O> | NotHandled, Effect.Services<O>>)
  }, handler)
}
