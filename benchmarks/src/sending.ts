import { autoRetry } from "@grammyjs/auto-retry"
import { Api } from "grammy"
import { type ChildProcess, fork } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { costsOf } from "./child.ts"
import type { Measured } from "./figure.ts"
import type { Task } from "./sender.ts"
import { startTelegram } from "./telegram.ts"

const start = (program: string, ...args: ReadonlyArray<string>): ChildProcess =>
  fork(fileURLToPath(new URL(program, import.meta.url)), args, { execArgv: ["--conditions=source"] })

const nextMessage = async <A>(child: ChildProcess): Promise<A> => {
  const [message] = (await once(child, "message")) as [A]
  return message
}

interface Flood {
  readonly millis: number
  readonly accepted: number
  readonly refused: number
}

/** Runs several sending processes against an emulator with limits. */
const flood = async (
  allowed: number,
  sends: number,
  people: number,
  processes: number = 1,
  prefix?: string
): Promise<Flood> => {
  const emulator = start("limitedEmulator.ts", JSON.stringify({ host: allowed }), String(people))
  const { url, users } = await nextMessage<{ readonly url: string; readonly users: ReadonlyArray<number> }>(emulator)
  const each = people / processes
  const senders = Array.from({ length: processes }, (_, index) => {
    const task: Task = {
      url,
      users: users.slice(index * each, (index + 1) * each),
      sends: sends / processes,
      ...(prefix === undefined ? {} : { prefix })
    }
    return start("sender.ts", JSON.stringify(task))
  })
  await Promise.all(senders.map(nextMessage))
  const began = performance.now()
  for (const sender of senders) sender.send("go")
  await Promise.all(senders.map(nextMessage))
  const millis = performance.now() - began
  const counts = nextMessage<Omit<Flood, "millis">>(emulator)
  emulator.send("counts")
  const { accepted, refused } = await counts
  emulator.kill()
  if (accepted !== sends) throw new Error(`${sends} were sent, ${accepted} arrived`)
  return { millis, accepted, refused }
}

const describe = ({ accepted, millis, refused }: Flood) =>
  `${accepted} sent in ${(millis / 1000).toFixed(1)} s, ${refused} refused`

/** 300 concurrent sends, compared with grammY and its auto-retry plugin. */
export const refusals = async (): Promise<Measured> => {
  const ours = await flood(30, 300, 300)
  const telegram = await startTelegram(30)
  const api = new Api("1:token", { apiRoot: telegram.apiRoot })
  api.config.use(autoRetry())
  const began = performance.now()
  await Promise.all(Array.from({ length: 300 }, (_, index) => api.sendMessage(index + 1, "Hello")))
  const theirs = { ...telegram.counts, millis: performance.now() - began }
  telegram.close()
  return {
    value: ours.refused / ours.accepted,
    detail: `${describe(ours)}; grammY with auto-retry: ${describe(theirs)}`
  }
}

/** 1,000 sends where the platform allows 10 per second. */
export const unknownLimit = async (): Promise<Measured> => {
  const measured = await flood(10, 1000, 500)
  return {
    value: measured.refused / measured.accepted,
    also: measured.millis / (1000 * 100),
    detail: describe(measured)
  }
}

/** 600 sends by four processes that share a limit through Redis. */
export const fourProcesses = async (): Promise<Measured> => {
  const measured = await flood(30, 600, 600, 4, `colloquy-bench-${randomUUID()}`)
  return { value: measured.refused, also: measured.millis / (1000 * 20), detail: describe(measured) }
}

const percentile = (values: ReadonlyArray<number>, part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]

/** Answers and replies while broadcasts are queued, compared with grammY and its throttler. */
export const replyLatency = async (): Promise<Measured> => {
  const { Colloquy, grammY } = await costsOf("replies.ts")
  const latencies = (name: string, costs: ReadonlyArray<number>) =>
    `${name}: median ${percentile(costs, 0.5).toFixed(0)} ms, p99 ${percentile(costs, 0.99).toFixed(0)} ms`
  return {
    value: percentile(Colloquy, 0.99),
    detail: `${latencies("Colloquy", Colloquy)}; ${latencies("grammY with its throttler, at least", grammY)}`
  }
}
