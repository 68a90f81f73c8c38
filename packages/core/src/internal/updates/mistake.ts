import * as Effect from "effect/Effect"
import * as PermanentError from "../../PermanentError.ts"

/** Dies because of a mistake of the program. The same update would fail again, so it is not retried. */
export const mistake = (message: string): Effect.Effect<never> => Effect.die(PermanentError.mark(new Error(message)))
