import { setTimeout as sleep } from "node:timers/promises"
import type { Measured } from "../figure.ts"
import type { Usage } from "./idleBot.ts"
import * as places from "./places.ts"
import { type Program, start } from "./processes.ts"

const stores = ["memory", "sqlite", "postgres", "redis"] as const

/** Programs use the processor for a while after their start. */
const warmUp = 20_000

const minute = 60_000

const usageOf = async ({ next, send }: Program<object, Usage>): Promise<Usage> => {
  const usage = next(() => true)
  send({})
  return usage
}

/** CPU time that a program uses in a minute, in microseconds, and how often it calls its store. */
const measure = async (args: ReadonlyArray<string>): Promise<Usage> => {
  const program = start<object, Usage>("idleBot.ts", args)
  try {
    await sleep(warmUp)
    const before = await usageOf(program)
    await sleep(minute)
    const after = await usageOf(program)
    return { cpu: after.cpu - before.cpu, calls: after.calls - before.calls }
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
