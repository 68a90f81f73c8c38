import * as Effect from "effect/Effect"
import * as Answers from "../../../endpoints/Answers.ts"
import { CurrentUpdate } from "./currentUpdate.ts"

/** Whether an earlier attempt of the same update may have answered a callback. */
export const mayBeAnswered = (callback_id: string): Effect.Effect<boolean> =>
  Effect.withFiber((fiber) => {
    const log = fiber.getRef(CurrentUpdate)?.answers
    const key = `${Answers.send.endpoint} ${callback_id}`
    return Effect.succeed(log !== undefined && (log.isRedelivered || log.attempts?.has(key) === true))
  })
