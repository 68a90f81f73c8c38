import * as Effect from "effect/Effect"
import * as PermanentError from "../PermanentError.ts"

/** Dies because of a defect of the program, with a permanent error. */
export const defect = (message: string): Effect.Effect<never> => Effect.die(PermanentError.mark(new Error(message)))
