import { costsOf, ratio } from "../child.ts"
import type { Figure } from "../figure.ts"
import * as crashes from "../inbox/crashes.ts"
import * as crashWait from "../inbox/crashWait.ts"
import * as frozen from "../inbox/frozen.ts"
import * as idle from "../inbox/idle.ts"
import * as race from "../inbox/race.ts"
import * as rowsExact from "../inbox/rowsExact.ts"
import * as streams from "../inbox/streams.ts"
import * as wake from "../inbox/wake.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "crash-survivors",
    measures:
      "updates that are lost or become dead letters because one to four other updates abort their process each time, and of these updates those that are no dead letters after three times, on SQLite, PostgreSQL and Redis",
    unit: "updates",
    goal: 0,
    measure: crashes.survivors
  },
  {
    figure: "crash-wait-ms",
    measures:
      "how long a new person waits, at most, after a process with 64 running handlers of 10 seconds was killed, on SQLite with one process, which is started again; and on PostgreSQL with two. The goal is 1.5 times the time without a kill, 10 seconds, and the lease of 10 seconds",
    unit: "ms",
    goal: crashWait.goal,
    also: { name: "ms with two processes", goal: crashWait.goal },
    measure: crashWait.wait
  },
  {
    figure: "frozen-out-of-order",
    measures:
      "updates handled out of order, handled at the same time in two processes, or answered by a process that had lost the chat, of three processes of which one is stopped ten times by SIGSTOP, on PostgreSQL and Redis",
    unit: "updates",
    goal: 0,
    measure: frozen.outOfOrder
  },
  {
    figure: "wake-p99-ms",
    measures:
      "99th percentile of the time from an update being stored by one process to its handling in another, idle one, on SQLite, PostgreSQL and Redis",
    unit: "ms",
    goal: 20,
    measure: wake.wakeUp
  },
  {
    figure: "stream-over-run",
    measures:
      "updates per second through `Updates.deliveries` with `Stream.mapEffect`, `ack` and a concurrency of 64, over `Bot.run`, the lowest of memory, SQLite, PostgreSQL and Redis",
    unit: "ratio",
    goal: 0.9,
    isMinimum: true,
    measure: () => streams.overRun("Stream.mapEffect")
  },
  {
    figure: "deliveries-over-run",
    measures: "the same with `Deliveries.mapEffect`, which acknowledges",
    unit: "ratio",
    goal: 0.9,
    isMinimum: true,
    measure: () => streams.overRun("Deliveries.mapEffect")
  },
  {
    figure: "batch-exact-rate",
    measures:
      'rows per second that `Deliveries.groupedWithin(500, "1 second")` and `Commit.add` write to PostgreSQL, each exactly once, over the smallest queue by hand that does so: `DELETE … SKIP LOCKED RETURNING` and the same insert in one transaction, without order',
    unit: "ratio",
    goal: 0.9,
    isMinimum: true,
    measure: streams.batchExactRate
  },
  {
    figure: "rows-exact",
    measures:
      "differences between the updates that were acknowledged and the rows that their handlers and batches added with `Commit.add`, after 50 kills and 10 freezes of 3 processes on PostgreSQL and of 1 process on SQLite: counters of chats that are wrong, and rows that are missing, doubled or out of order",
    unit: "rows",
    goal: 0,
    measure: rowsExact.differences
  },
  {
    figure: "rows-cost",
    measures:
      "CPU time of an update whose handler adds one statement with `Commit.add`, over the same without the statement, the higher of SQLite and PostgreSQL",
    unit: "ratio",
    goal: 1.3,
    measure: streams.rowsCost
  },
  {
    figure: "update-log-cost",
    measures:
      "CPU time of an update with an empty handler, received and handled, with the log of handled updates over the same without, on SQLite, if each entry is written",
    unit: "ratio",
    goal: 1.1,
    measure: ratio(() => costsOf(["inbox/logCost.ts", "sqlite"], "--expose-gc"), "with the log", "without", "us CPU")
  },
  {
    figure: "pg-over-graphile-worker",
    measures:
      "updates per second of 500 chats in order on PostgreSQL, over graphile-worker with a queue for each chat, the lower of 1 and 4 processes",
    unit: "ratio",
    goal: 10,
    isMinimum: true,
    measure: race.overGraphile
  },
  {
    figure: "redis-over-groupmq",
    measures:
      "updates per second of 500 chats in order on Redis, over groupmq with a group for each chat, the lower of 1 and 4 processes",
    unit: "ratio",
    goal: 1.5,
    isMinimum: true,
    measure: race.overGroupmq
  },
  {
    figure: "sqlite-over-bare",
    measures:
      "updates per second of 1,000 chats that are received, claimed, handled and acknowledged on SQLite, over the same inserts and deletes by `node:sqlite` in transactions of 100 and 64 rows with the same durability",
    unit: "ratio",
    goal: 0.6,
    isMinimum: true,
    measure: streams.sqliteOverBare
  },
  {
    figure: "redis-over-streams",
    measures: "the same on Redis, over a stream of Redis with a consumer group, without order and deduplication",
    unit: "ratio",
    goal: 0.7,
    isMinimum: true,
    measure: streams.redisOverStreams
  },
  {
    figure: "pg-few-over-many",
    measures: "the same with 10 chats, over 1,000 chats, the lower of PostgreSQL and SQLite",
    unit: "ratio",
    goal: 0.7,
    isMinimum: true,
    measure: streams.fewOverMany
  },
  {
    figure: "idle-cpu",
    measures:
      "CPU time of an idle bot with a webhook in a minute (the median of three), over an idle `node:http` server, the highest of all stores",
    unit: "ratio",
    goal: 2,
    also: { name: "calls of the store", goal: 12 },
    measure: idle.idleCpu
  }
]
