import { bundleSizes, startTimes } from "../bundle.ts"
import { costsOf, ratio } from "../child.ts"
import { type Figure, lazily } from "../figure.ts"
import { hostileStall } from "../hostileResponses.ts"
import { bytesOverFile, uploadCost, uploaderGrowth } from "../uploads.ts"
import { workerSize, workerStart } from "../workerd.ts"

const jit = ["--import", "effect/schema/SchemaJITCompiler/enable"]

const calls = lazily(() => costsOf("call.ts"))
const decodes = lazily(() => costsOf("decode.ts"))
const jitDecodes = lazily(() => costsOf("decode.ts", ...jit))

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "call-cpu-over-undici",
    measures: "CPU time of `Messages.send`, 16 concurrent, over bare `undici.request` and `JSON.parse`",
    unit: "ratio",
    goal: 1.4,
    measure: ratio(calls, "Messages.send", "undici.request", "us CPU")
  },
  {
    figure: "call-cpu-over-fetch",
    measures: "the same, over the global `fetch` and `json()`",
    unit: "ratio",
    goal: 0.9,
    measure: ratio(calls, "Messages.send", "fetch", "us CPU")
  },
  {
    figure: "decode-over-json-parse",
    measures: "decoding an update from its bytes with exact integers, over `JSON.parse` alone",
    unit: "ratio",
    goal: 2,
    measure: ratio(decodes, "Update.parse", "JSON.parse", "us")
  },
  {
    figure: "decode-jit-over-json-parse",
    measures: "the same with Effect's schema compiler",
    unit: "ratio",
    goal: 1.6,
    measure: ratio(jitDecodes, "Update.parse", "JSON.parse", "us")
  },
  {
    figure: "decode-over-zod",
    measures: "the same with Effect's schema compiler, over zod 4",
    unit: "ratio",
    goal: 1.2,
    measure: ratio(jitDecodes, "Update.parse", "zod", "us")
  },
  {
    figure: "hostile-response-ms",
    measures: "longest stall of the event loop over hostile responses of 8 MiB and updates of 1 MiB",
    unit: "ms",
    goal: 150,
    measure: hostileStall
  },
  {
    figure: "size-over-base",
    measures: "size of a program that sends a message, bundled and gzipped, over the same program by hand on Effect",
    unit: "ratio",
    goal: 1.25,
    measure: bundleSizes
  },
  {
    figure: "worker-size",
    measures: "size of a worker that answers messages by webhook, bundled and gzipped",
    unit: "kB",
    goal: 90,
    measure: workerSize
  },
  {
    figure: "worker-start-over-empty",
    measures:
      "time from the start of workerd to the first response 200 of this worker, over a worker that does nothing",
    unit: "ratio",
    goal: 2,
    measure: workerStart
  },
  {
    figure: "start-over-base",
    measures: "start time of these programs",
    unit: "ratio",
    goal: 1.08,
    measure: startTimes
  },
  {
    figure: "upload-rss-mb",
    measures: "memory growth of a process that uploads 4 GB",
    unit: "MB",
    goal: 60,
    measure: uploaderGrowth
  },
  {
    figure: "upload-cpu-over-undici",
    measures: "CPU time of a 1 GB upload, over undici streaming the same file",
    unit: "ratio",
    goal: 1.3,
    measure: uploadCost
  },
  {
    figure: "upload-resume-bytes",
    measures: "bytes sent for a 1 GB file with 10 lost connections, over its size",
    unit: "ratio",
    goal: 1.02,
    measure: bytesOverFile
  }
]
