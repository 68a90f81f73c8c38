import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Effect from "effect/Effect"
import { isSuccess } from "effect/Result"
import { Logger, makeWorkerUtils } from "graphile-worker"
import { type Measured, median } from "../figure.ts"
import { type Program, sharedTime, start } from "../processes.ts"
import type { Command, Report } from "./contender.ts"
import { groupmqQueue } from "./groupmq.ts"
import * as places from "./places.ts"
import { fill, pageOf } from "./traffic.ts"

const chats = 500

/** Concurrent handlers of a process. */
export const concurrency = 64

/** Connections of a graphile-worker process: its default. */
export const graphileConnections = 10

const rounds = 3

/** Without progress for this long, in milliseconds, the race has failed. */
const maxIdle = 60_000

type Result = Extract<Report, { readonly is: "result" }>

interface Contender {
  readonly name: string
  readonly store: places.Store
  readonly total: number
  readonly file: string
  readonly args: (place: places.Place) => ReadonlyArray<string>
  readonly fill: (place: places.Place, total: number) => Promise<unknown>
}

const inbox = (store: places.Store, total: number): Contender => ({
  name: "Bot.run",
  store,
  total,
  file: "inbox/raceInbox.ts",
  args: places.toArguments,
  fill: (place) =>
    Effect.runPromise(Effect.provide(fill(0, total, chats), places.layerInbox(place, { capacity: 10_000_000 })))
})

/** The updates as the inbox stores them. */
const queued = (total: number): ReadonlyArray<QueuedUpdate.QueuedUpdate> =>
  pageOf(0, total, chats).flatMap(({ decoded }) =>
    isSuccess(decoded) ? [QueuedUpdate.fromDecoded(decoded, { receivedAt: 0 })] : []
  )

const graphile = (total: number): Contender => ({
  name: "graphile-worker",
  store: "postgres",
  total,
  file: "inbox/raceGraphile.ts",
  args: ({ name }) => [name],
  fill: async ({ name }) => {
    const utils = await makeWorkerUtils({
      connectionString: places.postgresUrl(name),
      logger: new Logger(() => () => undefined)
    })
    await utils.migrate()
    const jobs = queued(total)
    for (let first = 0; first < total; first += 500) {
      await utils.addJobs(
        jobs.slice(first, first + 500).map(({ partitionKey, text }) => ({
          identifier: "handle",
          payload: JSON.parse(text) as unknown,
          queueName: partitionKey
        }))
      )
    }
    await utils.release()
  }
})

const groupmq = (total: number): Contender => ({
  name: "groupmq",
  store: "redis",
  total,
  file: "inbox/raceGroupmq.ts",
  args: ({ name }) => [name],
  fill: async ({ name }) => {
    const queue = groupmqQueue(name)
    // Its jobs of a group are ordered by `orderMs`.
    const jobs = queued(total).entries().toArray()
    for (let first = 0; first < total; first += 500) {
      await Promise.all(
        jobs
          .slice(first, first + 500)
          .map(([index, { partitionKey, text }]) =>
            queue.add({ groupId: partitionKey, data: text, orderMs: index + 1 })
          )
      )
    }
    await queue.close()
    queue.redis.disconnect()
  }
})

const checkHandled = ({ name, total }: Contender, handled: ReadonlyArray<ReadonlyArray<number>>): void => {
  const once = new Set(handled.flat())
  const count = handled.flat().length
  if (once.size !== total || count !== total) {
    throw new Error(`${name} handled ${once.size} of ${total} updates, and ${count - once.size} of them again`)
  }
  for (const indices of handled) {
    const last = new Map<number, number>()
    for (const index of indices) {
      if ((last.get(index % chats) ?? -1) > index) throw new Error(`${name} handled update ${index} out of order`)
      last.set(index % chats, index)
    }
  }
}

const reachTotal = ({ name, total }: Contender, programs: ReadonlyArray<Program<Command, Report>>): Promise<number> =>
  new Promise((resolve, reject) => {
    const counts = programs.map(() => 0)
    let last = 0
    const idle = () =>
      setTimeout(() => reject(new Error(`${name} makes no progress at ${counts.join(" + ")}`)), maxIdle)
    let timer = idle()
    for (const [index, { exited, listen }] of programs.entries()) {
      void exited.then((how) => reject(new Error(`${name} ended with ${how}`)))
      listen((report) => {
        if (report.is !== "progress") return
        clearTimeout(timer)
        timer = idle()
        counts[index] = report.handled
        last = Math.max(last, report.at)
        if (counts.reduce((sum, count) => sum + count, 0) < total) return
        clearTimeout(timer)
        resolve(last)
      })
    }
  })

/** Updates per second, with all updates waiting when the processes start. */
const rateOf = (contender: Contender, processes: number): Promise<number> =>
  places.withPlace(contender.store, async (place) => {
    await contender.fill(place, contender.total)
    const programs = Array.from({ length: processes }, () =>
      start<Command, Report>(contender.file, contender.args(place))
    )
    try {
      await Promise.all(programs.map(({ next }) => next()))
      const began = sharedTime()
      for (const { send } of programs) send({ run: "go" })
      const ended = await reachTotal(contender, programs)
      const results = programs.map(({ next }) => next<Result>((report) => report.is === "result"))
      for (const { send } of programs) send({ run: "stop" })
      checkHandled(
        contender,
        (await Promise.all(results)).map(({ handled }) => handled)
      )
      return contender.total / ((ended - began) / 1000)
    } finally {
      await Promise.all(programs.map(({ kill }) => kill()))
    }
  })

/** The lower ratio of the rates with one process and with four, with both contenders in each round. */
const race = async (ours: Contender, theirs: Contender): Promise<Measured> => {
  const ratios: Array<number> = []
  const details: Array<string> = []
  for (const processes of [1, 4]) {
    const rates: Array<readonly [ours: number, theirs: number]> = []
    for (let round = 0; round < rounds; round++) {
      rates.push([await rateOf(ours, processes), await rateOf(theirs, processes)])
    }
    ratios.push(median(rates.map(([a, b]) => a / b)))
    const [a, b] = [median(rates.map(([a]) => a)), median(rates.map(([, b]) => b))]
    details.push(
      `${processes} process${processes === 1 ? "" : "es"}: ${ours.name} ${a.toFixed(0)}/s, ${theirs.name} ${b.toFixed(0)}/s`
    )
  }
  return { value: Math.min(...ratios), detail: details.join("; ") }
}

/** Updates per second on PostgreSQL, over graphile-worker with a queue for each chat. */
export const overGraphile = (): Promise<Measured> => race(inbox("postgres", 20_000), graphile(4000))

/** Updates per second on Redis, over groupmq with a group for each chat. */
export const overGroupmq = (): Promise<Measured> => race(inbox("redis", 40_000), groupmq(40_000))
