import { setTimeout as sleep } from "node:timers/promises"
import { type Measured, median } from "../figure.ts"
import { start } from "../processes.ts"
import type { Usage } from "./idleBot.ts"
import * as places from "./places.ts"

const stores = ["memory", "sqlite", "postgres", "redis"] as const

/** Programs use the processor for a while after their start, and idle bots poll every 30 seconds only after a while. */
const warmUp = 45_000

const minute = 60_000

/** On a virtual machine, a single wake-up can take 20 ms by the clock of the system, so the median counts. */
const minutes = 3

/** Otherwise V8 collects the garbage of the start once, in one of the minutes, which takes longer than everything else. */
const withoutLateCollection = "--no-memory-reducer"

/** The median CPU time that a program uses in a minute, in microseconds, and how often it calls its store at most. */
const measure = async (args: ReadonlyArray<string>): Promise<Usage> => {
  const program = start<object, Usage>("inbox/idleBot.ts", args, { flags: [withoutLateCollection] })
  try {
    await sleep(warmUp)
    const usages = [await program.ask({})]
    for (let passed = 0; passed < minutes; passed++) {
      await sleep(minute)
      usages.push(await program.ask({}))
    }
    const each = usages.slice(1).map((after, index) => {
      const before = usages[index]!
      return { cpu: after.cpu - before.cpu, calls: after.calls - before.calls }
    })
    return { cpu: median(each.map(({ cpu }) => cpu)), calls: Math.max(...each.map(({ calls }) => calls)) }
  } finally {
    await program.kill()
  }
}

/** CPU time of an idle bot with a webhook, over an idle `node:http` server, and its calls of its store in a minute. */
export const idleCpu = async (): Promise<Measured> => {
  const [bare, ...bots] = await Promise.all([
    measure([]),
    ...stores.map((store) => places.withPlace(store, (place) => measure(places.toArguments(place))))
  ])
  return {
    value: Math.max(...bots.map(({ cpu }) => cpu / bare.cpu)),
    also: Math.max(...bots.map(({ calls }) => calls)),
    detail: [
      `node:http ${(bare.cpu / 1000).toFixed(1)} ms CPU`,
      ...bots.map(({ calls, cpu }, index) => `${stores[index]} ${(cpu / 1000).toFixed(1)} ms, ${calls} calls`)
    ].join(", ")
  }
}
