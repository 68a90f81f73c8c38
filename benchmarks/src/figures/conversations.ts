import type { Figure } from "../figure.ts"
import * as conversation from "../conversations/measure.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "conversation-cpu-ms",
    measures:
      "CPU time of an answer after which 20 answers of a conversation are stored in SQLite, with a platform that answers in the same process; and the same over `effect/workflow`",
    unit: "ms",
    goal: 0.5,
    also: { name: "over `effect/workflow`", goal: 0.05 },
    measure: conversation.cpu
  },
  {
    figure: "conversation-bytes",
    measures:
      "bytes that a conversation stores after 20 turns, over the file that `@grammyjs/conversations` stores of the same",
    unit: "ratio",
    goal: 0.2,
    measure: conversation.bytes
  },
  {
    figure: "conversation-rows",
    measures: "rows in SQLite that are left of conversations after their end",
    unit: "rows",
    goal: 0,
    measure: conversation.rows
  },
  {
    figure: "conversation-deploys",
    measures:
      "conversations that are stuck after a change of the code: each of 29 changes is deployed while they wait at each of six places",
    unit: "conversations",
    goal: 0,
    also: { name: "dead letters", goal: 0 },
    measure: conversation.deploys
  },
  {
    figure: "conversation-parked-mb",
    measures: "memory of 5,000 conversations (`--parked=N`) that wait for an answer, on SQLite",
    unit: "MB",
    goal: 1,
    measure: conversation.parkedMemory
  }
]
