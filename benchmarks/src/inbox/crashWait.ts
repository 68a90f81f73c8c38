import { Inbox } from "@colloquy/core"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { setTimeout as sleep } from "node:timers/promises"
import type { Measured } from "../figure.ts"
import { type Program, sharedTime, start } from "../processes.ts"
import * as places from "./places.ts"
import { pageOf, received } from "./traffic.ts"
import type { Begun } from "./wakeBot.ts"

const handlerMillis = 10_000

/** The default of `leaseDuration`. */
const leaseMillis = 10_000

/** The default of `concurrency`. */
const concurrency = 64

export const goal = 1.5 * handlerMillis + leaseMillis

/** When new people write, in milliseconds after the kill. */
const arrivals = [100, 2500, 5000, 7500, 10_000, 12_500]

type Bot = Program<never, Begun>

/** The longest time in milliseconds from an update of a new person being stored to its handling after a kill. */
const longestWait = (store: places.Store, processes: number): Promise<number> =>
  places.withPlace(store, async (place) => {
    const inbox = ManagedRuntime.make(places.layerInbox(place))
    const receive = (updates: ReadonlyArray<Inbox.Received>) =>
      inbox.runPromise(Inbox.Inbox.use((inbox) => inbox.receive(updates)))
    await inbox.context()
    const begun = new Map<number, number>()
    const startBot = (): Bot => {
      const bot: Bot = start("inbox/wakeBot.ts", [...places.toArguments(place), String(handlerMillis)])
      bot.listen(({ at, index }) => begun.set(index, at))
      return bot
    }
    const untilBegun = async (indices: ReadonlyArray<number>): Promise<void> => {
      while (!indices.every((index) => begun.has(index))) await sleep(20)
    }
    const running = Array.from({ length: concurrency * processes }, (_, index) => index)
    const bots = Array.from({ length: processes }, startBot)
    try {
      await receive(pageOf(0, running.length, running.length))
      await untilBegun(running)
      await bots.shift()!.kill()
      const killedAt = sharedTime()
      if (processes === 1) bots.push(startBot())
      const people: Array<readonly [index: number, stored: number]> = []
      for (const arrival of arrivals) {
        await sleep(Math.max(0, killedAt + arrival - sharedTime()))
        const index = running.length + people.length
        await receive([received(index, index)])
        people.push([index, sharedTime()])
      }
      await untilBegun(people.map(([index]) => index))
      return Math.max(...people.map(([index, stored]) => begun.get(index)! - stored))
    } finally {
      for (const bot of bots) await bot.kill()
      await inbox.dispose()
    }
  })

export const wait = async (): Promise<Measured> => {
  const one = await longestWait("sqlite", 1)
  const two = await longestWait("postgres", 2)
  return { value: one, also: two, detail: `sqlite ${one.toFixed(0)} ms, postgres ${two.toFixed(0)} ms` }
}
