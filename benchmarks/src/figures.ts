import { costsOf, type Costs } from "./child.ts"
import { medianOf, requestRate, startOverNode, uploadGrowth } from "./emulator.ts"
import { compare, type Figure, type Measured } from "./figure.ts"
import { bundles } from "./bundle.ts"
import { streamGrowth, trackRate } from "./chats.ts"
import * as kill9 from "./kill9.ts"
import { concurrency } from "./kill9-stores.ts"
import { fourProcesses, refusals, replyLatency, unknownLimit } from "./sending.ts"
import { startTimes } from "./start.ts"
import { bytesOverFile, uploadCost, uploaderGrowth } from "./uploads.ts"
import { millionGrowth, sqliteRate, webhookCost } from "./webhooks.ts"

const lazily = <A>(make: () => Promise<A>): (() => Promise<A>) => {
  let made: Promise<A> | undefined
  return () => (made ??= make())
}

const jit = ["--import", "effect/schema/SchemaJITCompiler/enable"]

const calls = lazily(() => costsOf("call.ts"))
const decodes = lazily(() => costsOf("decode.ts"))
const jitDecodes = lazily(() => costsOf("decode.ts", ...jit))

const ratio =
  (costs: () => Promise<Costs>, ours: string, theirs: string, unit: string) => async (): Promise<Measured> => {
    const measured = await costs()
    return compare({ name: ours, costs: measured[ours] }, { name: theirs, costs: measured[theirs] }, unit)
  }

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "call-cpu-over-undici",
    unit: "ratio",
    goal: 2,
    measure: ratio(calls, "Messages.send", "undici.request", "us CPU")
  },
  {
    figure: "call-cpu-over-fetch",
    unit: "ratio",
    goal: 0.9,
    measure: ratio(calls, "Messages.send", "fetch", "us CPU")
  },
  {
    figure: "decode-over-json-parse",
    unit: "ratio",
    goal: 3,
    measure: ratio(decodes, "Update.parse", "JSON.parse", "us")
  },
  {
    figure: "decode-jit-over-json-parse",
    unit: "ratio",
    goal: 2,
    measure: ratio(jitDecodes, "Update.parse", "JSON.parse", "us")
  },
  { figure: "decode-over-zod", unit: "ratio", goal: 1.2, measure: ratio(jitDecodes, "Update.parse", "zod", "us") },
  { figure: "size-over-base", unit: "ratio", goal: 1.2, measure: bundles },
  { figure: "start-over-base", unit: "ratio", goal: 1.2, measure: startTimes },
  { figure: "emulator-over-bare", unit: "ratio", goal: 0.3, isMinimum: true, measure: requestRate },
  {
    figure: "virtual-8h-ms",
    unit: "ms",
    goal: 1000,
    measure: async () => medianOf((await costsOf("retries.ts"))["retries"], "1,000 updates that nobody takes")
  },
  {
    figure: "virtual-flood-ms",
    unit: "ms",
    goal: 1000,
    measure: async () => medianOf((await costsOf("flood.ts"))["10,000 sends"], "10,000 sends")
  },
  {
    figure: "limiter-cost-us",
    unit: "ratio",
    goal: 6,
    measure: ratio(() => costsOf("limiterCost.ts"), "acquire and depart", "withPermit", "us")
  },
  { figure: "429-per-success", unit: "ratio", goal: 0, measure: refusals },
  {
    figure: "429-unknown-limit",
    unit: "ratio",
    goal: 0.02,
    also: { name: "time over sends / 10", goal: 1.15 },
    measure: unknownLimit
  },
  { figure: "reply-p99-ms", unit: "ms", goal: 200, measure: replyLatency },
  {
    figure: "redis-four-processes",
    unit: "requests",
    goal: 0,
    also: { name: "time over sends / 30", goal: 1.1 },
    measure: fourProcesses
  },
  { figure: "emulator-4gb-rss-mb", unit: "MB", goal: 100, measure: uploadGrowth },
  {
    figure: "pipeline-over-grammy",
    unit: "ratio",
    goal: 1,
    isMinimum: true,
    measure: async () => {
      const costs = await costsOf("pipeline.ts", "--expose-gc")
      // The figure is a ratio of rates, so the costs are passed in reverse order.
      return compare(
        { name: "grammY", costs: costs["grammY"] },
        { name: "Updates.run", costs: costs["Updates.run"] },
        "us"
      )
    }
  },
  { figure: "emulator-start-over-node", unit: "ratio", goal: 8, measure: startOverNode },
  { figure: "chats-stream-rss-mb", unit: "MB", goal: 50, measure: streamGrowth },
  { figure: "chats-track-rate", unit: "per second", goal: 5000, isMinimum: true, measure: trackRate },
  { figure: "kill9-lost", unit: "updates", goal: 0, measure: kill9.lost },
  { figure: "kill9-twice", unit: "updates", goal: concurrency, measure: kill9.twice },
  { figure: "upload-rss-mb", unit: "MB", goal: 60, measure: uploaderGrowth },
  { figure: "upload-cpu-over-undici", unit: "ratio", goal: 1.3, measure: uploadCost },
  { figure: "upload-resume-bytes", unit: "ratio", goal: 1.02, measure: bytesOverFile },
  { figure: "webhook-cpu-over-bare", unit: "ratio", goal: 2, measure: webhookCost },
  { figure: "webhook-sqlite-rate", unit: "per second", goal: 5000, isMinimum: true, measure: sqliteRate },
  { figure: "memory-after-1m", unit: "MB", goal: 50, measure: millionGrowth },
  {
    figure: "broadcast-over-limit",
    unit: "ratio",
    goal: 1.03,
    measure: async () => {
      const { millis, refused } = await costsOf("broadcast.ts")
      return {
        value: millis[0] / ((3000 / 30) * 1000),
        detail: `3,000 recipients in ${(millis[0] / 1000).toFixed(1)} s, ${refused[0]} refused`
      }
    }
  }
]
