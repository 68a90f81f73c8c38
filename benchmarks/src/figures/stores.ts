import type { Figure } from "../figure.ts"
import { streamGrowth, trackOverBare } from "../chats.ts"
import * as backlog from "../inbox/backlog.ts"
import { storeStall } from "../stall.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "chats-stream-rss-mb",
    measures: "memory growth while 200,000 chats are streamed from a store",
    unit: "MB",
    goal: 50,
    measure: streamGrowth
  },
  {
    figure: "chats-track-over-bare",
    measures:
      "updates per second that `ChatStore` tracks in a SQLite file, over `node:sqlite` with the same durability",
    unit: "ratio",
    goal: 0.5,
    isMinimum: true,
    measure: trackOverBare
  },
  {
    figure: "store-stall-ms",
    measures:
      "CPU time for which one call of a store keeps the event loop busy, at most, with 100,000 chats and 100,000 waiting updates (`--stored=N`), in memory and on SQLite, PostgreSQL and Redis",
    unit: "ms",
    goal: 20,
    measure: storeStall
  },
  {
    figure: "backlog-cost",
    measures:
      "CPU time of an update, in the bot and its store, while 200,000 others wait (`--backlog=N`), over the same while none wait, the highest of SQLite, PostgreSQL and Redis",
    unit: "ratio",
    goal: 1.3,
    measure: backlog.cost
  }
]
