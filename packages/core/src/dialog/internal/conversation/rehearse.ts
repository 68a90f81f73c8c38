import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { Prediction } from "../../../inbox/Rehearsal.ts"
import type { Record } from "./record.ts"
import { makeStoring } from "./storing.ts"
import { type At, type Conversation, isUnanswered, runBody } from "./turn.ts"

/** Predicts what happens with a stored conversation when its next update arrives. */
export const rehearse = Effect.fnUntraced(function* (self: Conversation, at: At, record: Record) {
  const policy = record.version === self.version ? "continue" : self.onVersion(record.version)
  if (policy !== "continue") {
    const outcome = policy === "end" ? "outdated" : "restarts"
    return { outcome, detail: `version ${record.version} became ${self.version}` } satisfies Prediction
  }
  const input = yield* Effect.result(self.decodeInput(record.input))
  if (Result.isFailure(input)) return { outcome: "outdated", detail: "the input cannot be read" } satisfies Prediction
  let prediction: Prediction | undefined
  const { exit } = yield* runBody(self, at, { ...record, version: self.version }, input.success, {
    event: undefined,
    isRepeated: false,
    storing: makeStoring({ before: undefined, isMarked: false, write: () => Effect.void }, record),
    rehearse: (first) => void (prediction ??= first)
  })
  if (prediction !== undefined) return prediction
  if (exit !== undefined && Exit.isFailure(exit) && !isUnanswered(self, exit)) return yield* exit
  return { outcome: "ends" } satisfies Prediction
}) as (self: Conversation, at: At, record: Record) => Effect.Effect<Prediction, unknown, unknown>
