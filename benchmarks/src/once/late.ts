import { setTimeout as sleep } from "node:timers/promises"
import { type Measured, percentile } from "../figure.ts"
import * as places from "../inbox/places.ts"
import { start } from "../processes.ts"
import type { Report, Task } from "./lateBot.ts"
import { stores } from "./options.ts"

const count = 1000

const within = 10_000

/** After the last timer is due, in milliseconds. */
const maxWait = 40_000

/** How late the timers of a store are, in milliseconds. The first process sets them. */
const latenessOf = (store: places.Store, processes: number): Promise<ReadonlyArray<number>> =>
  places.withPlace(store, async (place) => {
    const bots = Array.from({ length: processes }, () =>
      start<Task, Report>("once/lateBot.ts", places.toArguments(place))
    )
    try {
      const late = new Map<number, number>()
      let before = -Infinity
      for (const bot of bots) {
        bot.listen((report) => {
          if (report.is === "set") before = report.before
          if (report.is !== "handled") return
          if (late.has(report.index)) throw new Error(`${store}: the timer ${report.index} was handled twice`)
          late.set(report.index, report.late)
        })
      }
      await Promise.all(bots.map(({ next }) => next()))
      bots[0].send({ count, within })
      for (const end = performance.now() + within + maxWait; late.size < count && performance.now() < end;)
        await sleep(20)
      if (late.size < count) throw new Error(`${store}: ${count - late.size} of ${count} timers were not handled`)
      if (before < 0) throw new Error(`${store}: the first timer was due before all timers were set`)
      return [...late.values()]
    } finally {
      await Promise.all(bots.map(({ kill }) => kill()))
    }
  })

/** The highest 99th percentile of all stores, of one process and of three. */
export const lateness = async (): Promise<Measured> => {
  const alone: Array<number> = []
  const three: Array<number> = []
  for (const store of stores) {
    alone.push(percentile(await latenessOf(store, 1), 0.99))
    three.push(percentile(await latenessOf(store, 3), 0.99))
  }
  return {
    value: Math.max(...alone),
    also: Math.max(...three),
    detail: stores
      .map(
        (store, index) => `${store} ${alone[index].toFixed(0)} ms, with three processes ${three[index].toFixed(0)} ms`
      )
      .join("; ")
  }
}
