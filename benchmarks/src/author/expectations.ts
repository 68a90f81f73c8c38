/** What the author of a bot can expect: the costs of an answer, and how long people wait for it. */
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { costsOf } from "../child.ts"
import { delivery, secret } from "../deliveries.ts"
import { percentile } from "../figure.ts"
import * as places from "../inbox/places.ts"
import { listen, startServer } from "../processes.ts"
import { sent } from "../sample.ts"

export const stores = ["memory", "sqlite", "postgres", "redis"] as const

export type Store = (typeof stores)[number]

/** How long people wait for an answer, in milliseconds. */
export interface Latency {
  readonly store: Store
  readonly processes: number
  readonly p50: number
  readonly p99: number
}

const headers = { "content-type": "application/json", "x-svc-bot-api-secret": secret }

/** A platform that takes the answers to the messages of {@link delivery}. */
const startPlatform = async () => {
  const answered = new Map<string, number>()
  const server = createServer((request, response) => {
    const arrived = performance.now()
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      answered.set((JSON.parse(body) as { readonly text: string }).text, arrived)
      response.writeHead(200, { "content-type": "application/json" }).end(sent)
    })
  })
  return { answered, url: await listen(server), close: () => server.close() }
}

type Platform = Awaited<ReturnType<typeof startPlatform>>

type Bot = Awaited<ReturnType<typeof startServer<object, { readonly cpu: number }>>>

const withBots = <A>(
  store: Store,
  processes: number,
  use: (platform: Platform, bots: ReadonlyArray<Bot>) => Promise<A>
): Promise<A> =>
  places.withPlace(store, async (place) => {
    const platform = await startPlatform()
    const bots: Array<Bot> = []
    try {
      while (bots.length < processes) {
        bots.push(await startServer("author/bot.ts", [...places.toArguments(place), platform.url]))
      }
      return await use(platform, bots)
    } finally {
      await Promise.all(bots.map((bot) => bot.kill()))
      platform.close()
    }
  })

let sentUpdates = 0

const midOf = (body: string): string =>
  (JSON.parse(body) as { readonly message: { readonly body: { readonly mid: string } } }).message.body.mid

/** Delivers a message to a bot. Returns the id of the message, and when its delivery began. */
const deliver = async ({ url }: Bot): Promise<{ readonly mid: string; readonly at: number }> => {
  const body = delivery(sentUpdates++)
  const at = performance.now()
  const { ok, status } = await fetch(`${url}/updates`, { method: "POST", headers, body })
  if (!ok) throw new Error(`The bot responded with ${status}`)
  return { mid: midOf(body), at }
}

const untilAnswered = async ({ answered }: Platform, count: number): Promise<void> => {
  for (let waited = 0; answered.size < count; waited += 10) {
    if (waited > 60_000) throw new Error(`${answered.size} of ${count} messages were answered`)
    await sleep(10)
  }
}

const flood = async (platform: Platform, bot: Bot, count: number): Promise<void> => {
  const before = platform.answered.size
  let left = count
  const connection = async () => {
    while (left-- > 0) await deliver(bot)
  }
  await Promise.all(Array.from({ length: 32 }, connection))
  await untilAnswered(platform, before + count)
}

const messages = 4000

/** The messages that one process answers in a second of CPU time. The CPU time of a database server is not counted. */
export const rateOf = (store: Store): Promise<number> =>
  withBots(store, 1, async (platform, [bot]) => {
    await flood(platform, bot!, messages)
    const before = (await bot!.ask<{ readonly cpu: number }>({})).cpu
    await flood(platform, bot!, messages)
    const after = (await bot!.ask<{ readonly cpu: number }>({})).cpu
    return messages / ((after - before) / 1e6)
  })

/** The rate of the platform's limit. */
const perSecond = 30

const warmUp = 90

const seconds = 20

/** The time from the delivery of a message until the platform has received the answer, at 30 messages a second. */
export const latencyOf = (store: Store, processes: number): Promise<Latency> =>
  withBots(store, processes, async (platform, bots) => {
    const deliveries: Array<ReturnType<typeof deliver>> = []
    for (let index = 0; index < warmUp + perSecond * seconds; index++) {
      deliveries.push(deliver(bots[index % processes]!))
      await sleep((1000 / perSecond) * 2 * Math.random())
    }
    const delivered = await Promise.all(deliveries)
    await untilAnswered(platform, delivered.length)
    const times = delivered.slice(warmUp).map(({ at, mid }) => platform.answered.get(mid)! - at)
    return { store, processes, p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
  })

/** The memory in MB of 1,000 conversations that wait for an answer, on SQLite. */
export const conversationMemory = async (): Promise<number> => {
  const parked = 5000
  const costs = await costsOf(["conversations/parked.ts", `--parked=${parked}`], "--expose-gc")
  return (costs["parked"]![0]! / parked) * 1000
}
