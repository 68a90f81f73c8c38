import { costsOf, ratio } from "../child.ts"
import { compare, type Figure, lazily, median } from "../figure.ts"
import { parked } from "../options.ts"

const stored = lazily(() => costsOf("conversations/stored.ts"))

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "conversation-cpu-ms",
    measures:
      "CPU time of an answer after which 20 answers of a conversation are stored in SQLite, with a platform that answers in the same process; and the same over `effect/workflow`",
    unit: "ms",
    goal: 0.5,
    also: { name: "over `effect/workflow`", goal: 0.05 },
    measure: async () => {
      const { conversation, sockets, workflow } = await costsOf("conversations/cpu.ts", "--expose-gc")
      const { detail, value } = compare(
        { name: "conversation", costs: conversation },
        { name: "effect/workflow", costs: workflow },
        "us CPU"
      )
      return {
        value: median(conversation) / 1000,
        also: value,
        detail: `${detail}; with requests over sockets ${median(sockets).toFixed(1)} us CPU`
      }
    }
  },
  {
    figure: "conversation-bytes",
    measures:
      "bytes that a conversation stores after 20 turns, over the file that `@grammyjs/conversations` stores of the same",
    unit: "ratio",
    goal: 0.2,
    measure: ratio(stored, "conversation", "grammY", "bytes")
  },
  {
    figure: "conversation-rows",
    measures: "rows in SQLite that are left of conversations after their end",
    unit: "rows",
    goal: 0,
    measure: async () => {
      const [left] = (await stored())["rows"]
      return { value: left, detail: `${left} rows of values, timers, journals and queued updates` }
    }
  },
  {
    figure: "conversation-parked-mb",
    measures: "memory of 5,000 conversations (`--parked=N`) that wait for an answer, on SQLite",
    unit: "MB",
    goal: 1,
    measure: async () => {
      const costs = await costsOf(["conversations/parked.ts", `--parked=${parked}`], "--expose-gc")
      return { value: costs["parked"][0], detail: `${parked} conversations` }
    }
  },
  {
    figure: "check-deploy-ms",
    measures:
      "time of `colloquy check-deploy` with 10,000 conversations that wait for an answer, on SQLite, with the start of the command",
    unit: "ms",
    goal: 60_000,
    measure: async () => {
      const [millis = Infinity] = (await costsOf("conversations/checkDeploy.ts"))["check"] ?? []
      return { value: millis, detail: `${(millis / 1000).toFixed(1)} s for 10,000 conversations` }
    }
  }
]
