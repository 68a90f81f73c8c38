import { Messages } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import { autoRetry } from "@grammyjs/auto-retry"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { Api } from "grammy"
import { costsOf } from "./child.ts"
import { startEmulator } from "./emulator.ts"
import { type Measured, percentile } from "./figure.ts"
import { millisOf } from "./rounds.ts"
import { platformLimits, startTelegram } from "./telegram.ts"

interface Flood {
  readonly millis: number
  readonly accepted: number
  readonly refused: number
}

/** Sends messages to people at once, against an emulator that allows a number of requests per second. */
const flood = async (allowed: number, sends: number, people: number): Promise<Flood> => {
  const emulator = await startEmulator(people, { host: allowed })
  const bot = ManagedRuntime.make(NodeBot.layer({ token: "token", baseUrl: emulator.url }))
  await bot.context()
  const sending = Effect.forEach(
    Array.from({ length: sends }, (_, index) => emulator.people[index % people].user_id),
    (user_id) => Messages.send({ user_id, text: "Hello" }),
    { concurrency: "unbounded", discard: true }
  )
  const millis = await millisOf(() => bot.runPromise(sending))
  const { accepted, refused } = await emulator.usage()
  await bot.dispose()
  await emulator.kill()
  if (accepted !== sends) throw new Error(`${sends} were sent, ${accepted} arrived`)
  return { millis, accepted, refused }
}

const describe = ({ accepted, millis, refused }: Flood) =>
  `${accepted} sent in ${(millis / 1000).toFixed(1)} s, ${refused} refused`

/** 300 concurrent sends, compared with grammY and its auto-retry plugin. */
export const refusals = async (): Promise<Measured> => {
  const ours = await flood(30, 300, 300)
  const telegram = await startTelegram(platformLimits(30))
  const api = new Api("1:token", { apiRoot: telegram.apiRoot })
  api.config.use(autoRetry())
  const millis = await millisOf(() =>
    Promise.all(Array.from({ length: 300 }, (_, index) => api.sendMessage(index + 1, "Hello")))
  )
  telegram.close()
  return {
    value: ours.refused / ours.accepted,
    detail: `${describe(ours)}; grammY with auto-retry: ${describe({ ...telegram.counts, millis })}`
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
