import type { Figure } from "../figure.ts"
import { storeStall, streamGrowth, trackOverBare } from "../chats.ts"

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
  }
]
