import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { Prediction } from "../../../inbox/Rehearsal.ts"
import { defect } from "../../../base/internal/defect.ts"
import type { Record } from "./record.ts"
import { Run } from "./run.ts"
import { Storing } from "./storing.ts"
import { makeTalk } from "./talk.ts"
import { type At, cut, type Conversation, isUnanswered, maxRounds } from "./turn.ts"

/** Runs the body of a conversation up to the first operation that is not repeated, and predicts this operation. */
const rehearseBody = Effect.fnUntraced(function* (self: Conversation, at: At, record: Record, input: unknown) {
  let begin = record
  for (let round = 1; round <= maxRounds; round++) {
    let prediction: Prediction | undefined
    const run = new Run(at, begin, undefined, {
      isBack: round > 1,
      isRepeated: false,
      // A rehearsal stores nothing.
      storing: new Storing({ before: undefined, isMarked: false, write: () => Effect.void }, begin),
      rehearse: (first) => void (prediction ??= first)
    })
    const exit = yield* run.body.execute(Effect.suspend(() => self.body(makeTalk(run, self, ""), input)))
    if (prediction !== undefined) return prediction
    const pause = run.body.pause
    if (exit === undefined && pause?._tag === "Back") {
      begin = cut(run.next, pause.to)
      continue
    }
    if (exit !== undefined && Exit.isFailure(exit) && !isUnanswered(self, exit)) return yield* exit
    return { outcome: "ends" } as const
  }
  return yield* defect(`The body of the conversation "${self.name}" leads back to itself forever.`)
})

/** Predicts what happens with a stored conversation when its next update arrives. */
export const rehearse = Effect.fnUntraced(function* (self: Conversation, at: At, record: Record) {
  const policy = record.version === self.version ? "continue" : self.onVersion(record.version)
  if (policy !== "continue") {
    const outcome = policy === "tell" ? "outdated" : "restarts"
    return { outcome, detail: `version ${record.version} became ${self.version}` } satisfies Prediction
  }
  const input = yield* Effect.result(self.decodeInput(record.input))
  if (Result.isFailure(input)) return { outcome: "outdated", detail: "the input cannot be read" } satisfies Prediction
  return yield* rehearseBody(self, at, { ...record, version: self.version }, input.success)
}) as (self: Conversation, at: At, record: Record) => Effect.Effect<Prediction, unknown, unknown>
