import { costsOf, type Costs } from "./child.ts"
import { medianOf, requestRate, startOverNode, uploadGrowth } from "./emulator.ts"
import { compare, type Figure, type Measured } from "./figure.ts"
import { bundles } from "./bundle.ts"
import { firstPaint, messageToScreen, pageSize, withPageOpen } from "./page.ts"
import { streamGrowth, trackOverBare } from "./chats.ts"
import * as conversation from "./conversations/measure.ts"
import { killed } from "./conversations/kills.ts"
import { copies } from "./copies.ts"
import * as backlog from "./inbox/backlog.ts"
import * as crashes from "./inbox/crashes.ts"
import * as cycles from "./inbox/cycles.ts"
import * as frozen from "./inbox/frozen.ts"
import * as idle from "./inbox/idle.ts"
import * as kill9 from "./inbox/kill9.ts"
import * as race from "./inbox/race.ts"
import * as streams from "./inbox/streams.ts"
import * as pipelines from "./inbox/pipelines.ts"
import * as wake from "./inbox/wake.ts"
import { journalCost, silentCost } from "./once/journalCost.ts"
import { lateness } from "./once/late.ts"
import * as once from "./once/once.ts"
import { concurrency, kills } from "./once/options.ts"
import * as live from "./live/figure.ts"
import { sharedLimit } from "./limits/figure.ts"
import { stateRaces } from "./once/stateRaces.ts"
import { fourProcesses, refusals, replyLatency, unknownLimit } from "./sending.ts"
import { storeStall } from "./stall.ts"
import { startTimes } from "./start.ts"
import { bytesOverFile, uploadCost, uploaderGrowth } from "./uploads.ts"
import { millionGrowth, sqliteOverBare, webhookCost } from "./webhooks.ts"
import { workerSize, workerStart } from "./workerd.ts"

const lazily = <A>(make: () => Promise<A>): (() => Promise<A>) => {
  let made: Promise<A> | undefined
  return () => (made ??= make())
}

const jit = ["--import", "effect/schema/SchemaJITCompiler/enable"]

const calls = lazily(() => costsOf("call.ts"))
const decodes = lazily(() => costsOf("decode.ts"))
const jitDecodes = lazily(() => costsOf("decode.ts", ...jit))

const ratio =
  (costs: () => Promise<Costs>, ours: string, theirs: string, unit: string) => async (): Promise<Measured> => {
    const measured = await costs()
    return compare({ name: ours, costs: measured[ours] }, { name: theirs, costs: measured[theirs] }, unit)
  }

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "call-cpu-over-undici",
    measures: "CPU time of `Messages.send`, 16 concurrent, over bare `undici.request` and `JSON.parse`",
    unit: "ratio",
    goal: 1.4,
    measure: ratio(calls, "Messages.send", "undici.request", "us CPU")
  },
  {
    figure: "call-cpu-over-fetch",
    measures: "the same, over the global `fetch` and `json()`",
    unit: "ratio",
    goal: 0.9,
    measure: ratio(calls, "Messages.send", "fetch", "us CPU")
  },
  {
    figure: "decode-over-json-parse",
    measures: "decoding an update from its bytes with exact integers, over `JSON.parse` alone",
    unit: "ratio",
    goal: 2,
    measure: ratio(decodes, "Update.parse", "JSON.parse", "us")
  },
  {
    figure: "decode-jit-over-json-parse",
    measures: "the same with Effect's schema compiler",
    unit: "ratio",
    goal: 1.6,
    measure: ratio(jitDecodes, "Update.parse", "JSON.parse", "us")
  },
  {
    figure: "decode-over-zod",
    measures: "the same with Effect's schema compiler, over zod 4",
    unit: "ratio",
    goal: 1.2,
    measure: ratio(jitDecodes, "Update.parse", "zod", "us")
  },
  {
    figure: "size-over-base",
    measures: "size of a program that sends a message, bundled and gzipped, over the same program by hand on Effect",
    unit: "ratio",
    goal: 1.15,
    measure: bundles
  },
  {
    figure: "worker-size",
    measures: "size of a worker that answers messages by webhook, bundled and gzipped",
    unit: "kB",
    goal: 100,
    measure: workerSize
  },
  {
    figure: "worker-start-over-empty",
    measures:
      "time from the start of workerd to the first response 200 of this worker, over a worker that does nothing",
    unit: "ratio",
    goal: 2,
    measure: workerStart
  },
  {
    figure: "start-over-base",
    measures: "start time of these programs",
    unit: "ratio",
    goal: 1.08,
    measure: startTimes
  },
  {
    figure: "emulator-over-bare",
    measures: "messages per second, over a plain `node:http` server that echoes JSON",
    unit: "ratio",
    goal: 0.5,
    isMinimum: true,
    measure: requestRate
  },
  {
    figure: "emulator-with-page",
    measures: "CPU time of the emulator for a message without a page, over that with an open page that shows the chat",
    unit: "ratio",
    goal: 0.9,
    isMinimum: true,
    measure: withPageOpen
  },
  {
    figure: "page-size-kb",
    measures: "size of all files of the page of the emulator, gzipped",
    unit: "kB",
    goal: 60,
    measure: pageSize
  },
  {
    figure: "page-first-paint-ms",
    measures: "time to the first content of the page on the loopback",
    unit: "ms",
    goal: 300,
    measure: firstPaint
  },
  {
    figure: "page-message-ms",
    measures: "time from a request of a bot to its message on the screen, 99th percentile at 20 messages a second",
    unit: "ms",
    goal: 50,
    measure: messageToScreen
  },
  {
    figure: "virtual-8h-ms",
    measures: "eight hours of webhook retries of 1,000 updates in virtual time",
    unit: "ms",
    goal: 1000,
    measure: async () => medianOf((await costsOf("retries.ts"))["retries"], "1,000 updates that nobody takes")
  },
  {
    figure: "virtual-flood-cpu-us",
    measures:
      "CPU time of a send through the client, the rate limits and the emulator in virtual time, over a call of the handler of the emulator with `JSON` both ways",
    unit: "ratio",
    goal: 3,
    measure: ratio(() => costsOf("flood.ts"), "send", "bare", "us CPU")
  },
  {
    figure: "limiter-cost-us",
    measures: "time to acquire a permit, over a permit of a semaphore",
    unit: "ratio",
    goal: 6,
    measure: ratio(() => costsOf("limiterCost.ts"), "acquire", "withPermit", "us")
  },
  {
    figure: "429-per-success",
    measures: "429 responses of 300 concurrent sends",
    unit: "ratio",
    goal: 0,
    measure: refusals
  },
  {
    figure: "429-unknown-limit",
    measures: "429 responses per send where the platform allows a third of the documented rate",
    unit: "ratio",
    goal: 0.02,
    also: { name: "time over sends / 10", goal: 1.15 },
    measure: unknownLimit
  },
  {
    figure: "reply-p99-ms",
    measures: "99th percentile latency of a reply while 10,000 broadcast messages are queued",
    unit: "ms",
    goal: 200,
    measure: replyLatency
  },
  {
    figure: "redis-four-processes",
    measures: "429 responses of 600 sends by four processes that share a limit through Redis",
    unit: "requests",
    goal: 0,
    also: { name: "time over sends / 30", goal: 1.1 },
    measure: fourProcesses
  },
  {
    figure: "shared-limit-windows-over",
    measures:
      "windows over the limit, counted at the sockets, of four processes whose Redis is slow, down, flapping or silent, or which stand still",
    unit: "requests",
    goal: 0,
    also: { name: "time over best possible", goal: 1.1 },
    measure: sharedLimit
  },
  {
    figure: "emulator-4gb-rss-mb",
    measures: "memory growth of the emulator while it receives 4 GB",
    unit: "MB",
    goal: 100,
    measure: uploadGrowth
  },
  {
    figure: "pipeline-over-grammy",
    measures: "updates per second of CPU time through `Updates.run`, over grammY's runner with `sequentialize`",
    unit: "ratio",
    goal: 2,
    isMinimum: true,
    measure: async () => {
      const costs = await costsOf("pipeline.ts", "--expose-gc")
      // The figure is a ratio of rates, so the costs are passed in reverse order.
      return compare(
        { name: "grammY", costs: costs["grammY"] },
        { name: "Updates.run", costs: costs["Updates.run"] },
        "us"
      )
    }
  },
  {
    figure: "emulator-start-over-node",
    measures: "time until the emulator command is ready, over `node -e 0`",
    unit: "ratio",
    goal: 8,
    measure: startOverNode
  },
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
    figure: "retry-copies",
    measures: "copies of a message whose handler fails five times after it was sent",
    unit: "requests",
    goal: 1,
    measure: copies
  },
  {
    figure: "state-races",
    measures:
      "changes of a person's state that are lost when the person presses a button in two chats at once, 1,000 times, in memory and on SQLite, PostgreSQL and Redis with one and two processes",
    unit: "updates",
    goal: 0,
    measure: stateRaces
  },
  {
    figure: "once-missing",
    measures:
      "messages that do not stand in the chats, of 600 updates (`--updates=N`) with three sends each, state and a timer that sends one, and 6 kills (`--kills=N`), on SQLite, PostgreSQL and Redis, with 1 and 3 processes, in chats that the bot may read",
    unit: "messages",
    goal: 0,
    measure: once.missing
  },
  {
    figure: "once-doubled",
    measures: "messages that stand in the chats twice, in the same runs",
    unit: "messages",
    goal: 0,
    measure: once.doubled
  },
  {
    figure: "once-doubled-unread",
    measures:
      "messages that stand in the chats twice, in the same runs in chats that the bot may not read, at most; the goal is the number of kills times the concurrency",
    unit: "messages",
    goal: kills * concurrency,
    also: { name: "not counted by `colloquy_journal_uncertain_total`", goal: 0 },
    measure: once.doubledUnread
  },
  {
    figure: "state-agrees",
    measures:
      "differences between the sums of the counters in the state and the number of acknowledged updates, in the runs of `once-missing`",
    unit: "updates",
    goal: 0,
    measure: once.disagreements
  },
  {
    figure: "timers-lost",
    measures:
      "timers that were not carried out, of 1,000 (`--timers=N`) with 6 kills (`--kills=N`), on SQLite, PostgreSQL and Redis, with 1 and 3 processes",
    unit: "updates",
    goal: 0,
    also: { name: "twice", goal: 0 },
    measure: once.timersLost
  },
  {
    figure: "timers-late-ms",
    measures:
      "99th percentile of the time from a timer being due to its handling, at 100 timers a second, the highest of SQLite, PostgreSQL and Redis",
    unit: "ms",
    goal: 50,
    also: { name: "ms with 3 processes", goal: 1000 },
    measure: lateness
  },
  {
    figure: "journal-cost",
    measures: "CPU time of a handler that sends a message, on SQLite, over the same with a call that is not recorded",
    unit: "ratio",
    goal: 1.3,
    measure: journalCost
  },
  {
    figure: "journal-cost-silent",
    measures:
      "CPU time of an update whose handler does nothing, on SQLite, over the same on a store whose state and timers are never asked",
    unit: "ratio",
    goal: 1.02,
    measure: silentCost
  },
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
    figure: "conversation-kills",
    measures:
      "answers lost, of 200 conversations (`--conversations=N`) of ten turns with 6 kills (`--kills=N`), on SQLite, PostgreSQL and Redis, in chats that the bot may read",
    unit: "messages",
    goal: 0,
    also: { name: "messages doubled", goal: 0 },
    measure: killed
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
  },
  {
    figure: "kill9-lost",
    measures: "updates lost, of 10,000 with 20 kills, on SQLite, PostgreSQL and Redis",
    unit: "updates",
    goal: 0,
    measure: kill9.lost
  },
  {
    figure: "kill9-twice",
    measures: "updates that one kill repeats, at most; the goal is the concurrency",
    unit: "updates",
    goal: kill9.concurrency,
    measure: kill9.twice
  },
  {
    figure: "crash-survivors",
    measures:
      "updates that are lost or become dead letters because another update aborts its process each time, on SQLite, PostgreSQL and Redis",
    unit: "updates",
    goal: 0,
    measure: crashes.survivors
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
      "updates per second through `Updates.deliveries` with `Stream.mapEffect`, `ack` and a concurrency of 64, over `Updates.run`, the lowest of memory, SQLite, PostgreSQL and Redis",
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
    figure: "stream-early-acks",
    measures:
      "updates lost by random pipelines of deliveries, of 60,000 with 50 kills, on SQLite, PostgreSQL and Redis",
    unit: "updates",
    goal: 0,
    measure: pipelines.earlyAcks
  },
  {
    figure: "batch-sink-rate",
    measures:
      'rows per second that `Deliveries.groupedWithin(500, "1 second")` writes to PostgreSQL, acknowledged after the commit, over the same inserts by hand',
    unit: "ratio",
    goal: 0.5,
    isMinimum: true,
    measure: streams.batchSinkRate
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
    measure: cycles.sqliteOverBare
  },
  {
    figure: "redis-over-streams",
    measures: "the same on Redis, over a stream of Redis with a consumer group, without order and deduplication",
    unit: "ratio",
    goal: 0.7,
    isMinimum: true,
    measure: cycles.redisOverStreams
  },
  {
    figure: "pg-few-over-many",
    measures: "the same with 10 chats, over 1,000 chats, the lower of PostgreSQL and SQLite",
    unit: "ratio",
    goal: 0.7,
    isMinimum: true,
    measure: cycles.fewOverMany
  },
  {
    figure: "pg-four-over-one",
    measures: "updates per second of 1,000 chats that four processes handle on PostgreSQL, over one process",
    unit: "ratio",
    goal: 1.8,
    isMinimum: true,
    measure: race.fourOverOneMany
  },
  {
    figure: "pg-four-over-one-few",
    measures: "the same with 10 chats",
    unit: "ratio",
    goal: 1,
    isMinimum: true,
    measure: race.fourOverOneFew
  },
  {
    figure: "idle-cpu",
    measures:
      "CPU time of an idle bot with a webhook in a minute (the median of three), over an idle `node:http` server, the highest of all stores",
    unit: "ratio",
    goal: 2,
    also: { name: "calls of the store", goal: 12 },
    measure: idle.idleCpu
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
  },
  {
    figure: "live-refused",
    measures:
      "429 responses while 10 and then 50 chats get answers of 40 tokens a second for 60 seconds, in virtual time",
    unit: "requests",
    goal: 0,
    measure: live.refused
  },
  {
    figure: "live-exact",
    measures: "of these answers, those whose final text is that of the stream, if the markup of each edit is balanced",
    unit: "ratio",
    goal: 1,
    isMinimum: true,
    measure: live.exact
  },
  {
    figure: "live-staleness",
    measures:
      "how long the oldest word that an edit adds has waited for it, p99, over the shortest time between two edits of a chat that the limits allow beside one reply a second to other chats; the answers begin 0.1 seconds after each other",
    unit: "ratio",
    goal: 1.2,
    measure: live.staleness
  },
  {
    figure: "live-reply-p99-ms",
    measures: "how long replies to other chats wait meanwhile, p99",
    unit: "ms",
    goal: 200,
    measure: live.reply
  },
  {
    figure: "live-records",
    measures:
      "writes of the journal for such an answer, the most at 10 and at 50 chats: its text while it grows, and its messages",
    unit: "per second",
    goal: 1.5,
    measure: live.records
  },
  {
    figure: "upload-rss-mb",
    measures: "memory growth of a process that uploads 4 GB",
    unit: "MB",
    goal: 60,
    measure: uploaderGrowth
  },
  {
    figure: "upload-cpu-over-undici",
    measures: "CPU time of a 1 GB upload, over undici streaming the same file",
    unit: "ratio",
    goal: 1.3,
    measure: uploadCost
  },
  {
    figure: "upload-resume-bytes",
    measures: "bytes sent for a 1 GB file with 10 lost connections, over its size",
    unit: "ratio",
    goal: 1.02,
    measure: bytesOverFile
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
  },
  {
    figure: "broadcast-over-limit",
    measures: "time of a broadcast to 3,000 chats, over the shortest time that the limits allow",
    unit: "ratio",
    goal: 1.03,
    measure: async () => {
      const { millis, refused } = await costsOf("broadcast.ts")
      return {
        value: millis[0] / ((3000 / 30) * 1000),
        detail: `3,000 recipients in ${(millis[0] / 1000).toFixed(1)} s, ${refused[0]} refused`
      }
    }
  }
]
