import { costsOf, ratio } from "../child.ts"
import type { Figure } from "../figure.ts"
import { millionGrowth, sqliteOverBare, webhookCost } from "../webhooks.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "pipeline-over-grammy",
    measures: "updates per second of CPU time through `Bot.run`, over grammY's runner with `sequentialize`",
    unit: "ratio",
    goal: 2,
    isMinimum: true,
    measure: ratio(() => costsOf("pipeline.ts", "--expose-gc"), "grammY", "Bot.run", "us")
  },
  {
    figure: "webhook-cpu-over-bare",
    measures: "CPU time of a delivery, over a plain `node:http` server with `JSON.parse`",
    unit: "ratio",
    goal: 1.4,
    measure: webhookCost
  },
  {
    figure: "webhook-sqlite-over-bare",
    measures:
      "deliveries per second that are stored in a SQLite file before they are acknowledged, over `node:http` and `node:sqlite` with the same durability",
    unit: "ratio",
    goal: 0.5,
    isMinimum: true,
    measure: sqliteOverBare
  },
  {
    figure: "memory-after-1m",
    measures: "memory growth over a million updates by webhook",
    unit: "MB",
    goal: 50,
    measure: millionGrowth
  }
]
