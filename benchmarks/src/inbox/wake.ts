import { Inbox } from "@colloquy/core"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { setTimeout as sleep } from "node:timers/promises"
import { type Measured, percentile } from "../figure.ts"
import { sharedTime, start } from "../processes.ts"
import * as places from "./places.ts"
import { received } from "./traffic.ts"
import type { Begun } from "./wakeBot.ts"

const warmUps = 5

const samples = 200

const chats = 50

/** The time in milliseconds from the end of each `receive` to the begin of its handler in another process. */
const latencies = (store: places.Store): Promise<ReadonlyArray<number>> =>
  places.withPlace(store, async (place) => {
    const inbox = ManagedRuntime.make(places.layerInbox(place))
    const receive = (index: number) =>
      inbox.runPromise(Inbox.Inbox.use((inbox) => inbox.receive([received(index, index % chats)])))
    await inbox.context()
    const bot = start<never, Begun>("inbox/wakeBot.ts", [...places.toArguments(place), "0"])
    try {
      const times: Array<number> = []
      for (let index = 0; index < warmUps + samples; index++) {
        const begun = bot.next((message) => message.index === index)
        await receive(index)
        const stored = sharedTime()
        const { at } = await begun
        if (index >= warmUps) times.push(Math.max(0, at - stored))
        await sleep(20 + Math.random() * 180)
      }
      return times
    } finally {
      await bot.kill()
      await inbox.dispose()
    }
  })

/** The highest 99th percentile of all stores that processes share. */
export const wakeUp = async (): Promise<Measured> => {
  const stores = ["sqlite", "postgres", "redis"] as const
  const measured: Array<readonly [store: string, p50: number, p99: number]> = []
  for (const store of stores) {
    const times = await latencies(store)
    measured.push([store, percentile(times, 0.5), percentile(times, 0.99)])
  }
  return {
    value: Math.max(...measured.map(([, , p99]) => p99)),
    detail: measured
      .map(([store, p50, p99]) => `${store} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
      .join("; ")
  }
}
