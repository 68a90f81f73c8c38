import type * as Effect from "effect/Effect"
import type * as Update from "../../../model/Update.ts"
import type { Handler, Part, Return, ReturnError } from "../../Handler.ts"
import { narrow } from "./narrow.ts"
import { mapParts } from "./parts.ts"

/** The handler of `Handler.on`, for types that are a type parameter of the caller, and for parts that have a name. */
export const onTypes = <const Type extends Update.Update["update_type"], O extends Return>(
  types: Type | ReadonlyArray<Type>,
  handler: (update: Update.Of<Type>) => O,
  part?: Partial<Part>
): Handler<ReturnError<O>, Effect.Services<O>> => {
  const narrowed = narrow(types)
  const { parts, starts } = handler as Handler<unknown, unknown, never>
  const own = { name: [types].flat().join(", "), types: [types].flat(), starts, ...part }
  return mapParts(
    handler as Handler<unknown, unknown, never>,
    ({ handle }) =>
      (update) => {
        const taken = narrowed(update)
        return taken === undefined ? undefined : handle(taken as Update.Update)
      },
    // Handlers that are parts keep their names.
    parts === undefined ? own : {}
  )
}
