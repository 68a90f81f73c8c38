import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import type { Measured } from "../figure.ts"
import { type Program, start, startServer } from "../processes.ts"
import { freePort, startRedis } from "../redisServer.ts"
import type { Command, Task } from "./limitedSender.ts"
import { type Proxy, startProxy } from "./proxy.ts"
import type { Arrival } from "./stub.ts"

const limit = 30
const window = 1000
const processes = 4

type Sender = Program<Command, object>

/** What happens to the senders and their Redis while they send. */
export interface Setting {
  readonly senders: ReadonlyArray<Sender>
  /** The proxy before Redis of each sender. */
  readonly proxies: ReadonlyArray<Proxy>
  readonly restartRedis: (downFor: number) => Promise<void>
  readonly burn: () => void
}

export interface Scenario {
  readonly name: string
  /** How long the processes send, in milliseconds. */
  readonly duration: number
  /** Whether Redis is available all the time, so that the time of the run has a goal. */
  readonly isHealthy: boolean
  readonly play: (setting: Setting) => Promise<void>
}

const repeat = async (times: number, every: number, action: (index: number) => void | Promise<void>) => {
  for (let index = 0; index < times; index++) {
    await sleep(every)
    await action(index)
  }
}

export const scenarios: ReadonlyArray<Scenario> = [
  { name: "quiet", duration: 6000, isHealthy: true, play: () => Promise.resolve() },
  { name: "busy", duration: 6000, isHealthy: true, play: ({ burn }) => Promise.resolve(burn()) },
  {
    name: "blocked",
    duration: 6000,
    isHealthy: true,
    play: ({ senders }) => repeat(6, 800, (index) => senders[index % processes].send({ run: "block", millis: 300 }))
  },
  {
    name: "stopped",
    duration: 7000,
    isHealthy: true,
    play: ({ senders }) =>
      repeat(2, 700, async (index) => {
        senders[index].child.kill("SIGSTOP")
        await sleep(1500)
        senders[index].child.kill("SIGCONT")
      })
  },
  {
    name: "latency",
    duration: 6000,
    isHealthy: true,
    play: ({ proxies }) => Promise.resolve(proxies.forEach(({ delay }) => delay(50)))
  },
  { name: "down for all", duration: 13_000, isHealthy: false, play: ({ restartRedis }) => restartRedis(8000) },
  {
    name: "down for one",
    duration: 14_000,
    isHealthy: false,
    play: async ({ proxies }) => {
      await sleep(1000)
      proxies[0].setMode("refuse")
      await sleep(10_000)
      proxies[0].setMode("pass")
    }
  },
  {
    name: "flapping",
    duration: 12_000,
    isHealthy: false,
    play: ({ proxies }) =>
      repeat(5, 2000, (index) => {
        for (const proxy of proxies.slice(0, 2)) proxy.setMode(index % 2 === 0 ? "refuse" : "pass")
      })
  },
  {
    name: "silent",
    duration: 13_000,
    isHealthy: false,
    play: async ({ proxies }) => {
      await sleep(1000)
      for (const proxy of proxies.slice(0, 2)) proxy.setMode("drop")
      await sleep(8000)
      for (const proxy of proxies.slice(0, 2)) proxy.setMode("pass")
    }
  }
]

export interface Run {
  readonly arrived: number
  /** The largest number of arrivals in a window. */
  readonly most: number
  /** Number of arrivals that begin a window with more arrivals than the limit. */
  readonly windowsOver: number
  /** Number of arrivals that the stub recorded late. Their windows begin at the earliest time that is possible. */
  readonly recordedLate: number
  /** The mean time in which as many requests arrived as the limit allows in a window, over the window. */
  readonly overBest: number
}

const evaluate = (arrivals: ReadonlyArray<Arrival>): Run => {
  const sorted = [...arrivals].sort((a, b) => a.at - b.at)
  const times = sorted.map(({ at }) => at)
  const counts = sorted.map(({ earliest }, index) => {
    let end = index
    while (end < times.length && times[end] < earliest + window) end++
    return end - index
  })
  const cycles = times.slice(limit).map((at, index) => at - times[index])
  return {
    arrived: times.length,
    most: Math.max(0, ...counts),
    windowsOver: counts.filter((count) => count > limit).length,
    recordedLate: sorted.filter(({ at, earliest }) => earliest < at).length,
    overBest: cycles.reduce((sum, cycle) => sum + cycle, 0) / cycles.length / window
  }
}

/** Runs a scenario once: four processes with a quarter of the limit each send as fast as they may. */
export const runOnce = async ({ duration, play }: Scenario): Promise<Run> => {
  const port = await freePort()
  let redis = await startRedis(port)
  const proxies = await Promise.all(Array.from({ length: processes }, () => startProxy(port)))
  const stub = await startServer<object, ReadonlyArray<Arrival>>("limits/stub.ts")
  const prefix = randomUUID()
  const burners: Array<ChildProcess> = []
  const senders = proxies.map((proxy, index) => {
    const task: Task = {
      url: stub.url,
      redisUrl: `redis://127.0.0.1:${proxy.port}`,
      prefix,
      share: 1 / processes,
      firstChat: 1_000_000 * (index + 1)
    }
    return start<Command, object>("limits/limitedSender.ts", [JSON.stringify(task)])
  })
  try {
    await Promise.all(senders.map(({ next }) => next()))
    await sleep(1500)
    await stub.ask({})
    for (const sender of senders) sender.send({ run: "go" })
    const playing = play({
      senders,
      proxies,
      restartRedis: async (downFor) => {
        await sleep(1000)
        redis.kill("SIGKILL")
        await once(redis, "exit")
        await sleep(downFor)
        redis = await startRedis(port)
      },
      burn: () => {
        for (let index = 0; index < 4; index++) {
          burners.push(spawn(process.execPath, ["-e", "for (;;) {}"], { stdio: "ignore" }))
        }
      }
    })
    await Promise.all([sleep(duration), playing])
    for (const sender of senders) sender.send({ run: "stop" })
    await sleep(300)
    return evaluate(await stub.ask({}))
  } finally {
    for (const { child } of [...senders, stub]) child.kill("SIGKILL")
    for (const child of [...burners, redis]) child.kill("SIGKILL")
    for (const proxy of proxies) proxy.close()
  }
}

/** One run of each scenario: how many windows exceeded the limit, and the time where Redis is available. */
export const sharedLimit = async (): Promise<Measured> => {
  const runs = []
  for (const scenario of scenarios) runs.push({ ...scenario, ...(await runOnce(scenario)) })
  const healthy = runs.filter(({ isHealthy }) => isHealthy)
  return {
    value: runs.reduce((sum, { windowsOver }) => sum + windowsOver, 0),
    also: healthy.reduce((sum, { overBest }) => sum + overBest, 0) / healthy.length,
    detail: runs.map(({ most, name, overBest }) => `${name}: at most ${most}, time ${overBest.toFixed(2)}`).join("; ")
  }
}
