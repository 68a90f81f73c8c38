/**
 * Fuzzes the library and the emulator: `npm run fuzz -- --minutes 10 --seed 7 --target webhook`.
 *
 * - `--minutes`: how long it runs. Default: 1. `--inputs`: the number of inputs instead.
 * - `--workers`: number of threads. Default: the number of processors.
 * - `--seed`: the seed. Default: the time. `--target`: the start of the names of targets. Default: all.
 * - `--replay`: repeats one finding, with the token that it was reported with. `--round`: repeats one round of a seed.
 *
 * Prints a line a minute, the inputs of each target at the end, and each finding with its shrunk input. Exits with 1 after a
 * finding. An input that never ends is reported by its seed.
 */
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"
import { excerpt } from "../test/fuzz/target.ts"
import { fuzz, lastInput, type Options, type Report } from "../test/fuzz/worker.ts"

/** In milliseconds. Other programs may take the processors for a while. */
const stalledAfter = 120_000

interface Outcome {
  readonly counts: ReadonlyMap<string, number>
  readonly findings: number
}

/** Runs a worker until it is done. */
const watch = (options: Options, onFound: (message: string) => void): Promise<Outcome> =>
  new Promise((resolve) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: options, execArgv: ["--conditions=source"] })
    let findings = 0
    let running = { target: "", seed: "" }
    const last = lastInput(options.memory)
    const stalled = () => {
      console.error(`${running.target}: did not end within ${stalledAfter / 1000} seconds.`)
      const input = last.read()
      console.error(`Input (${input.length} characters): ${excerpt(input)}`)
      console.error(
        `Repeat: npm run fuzz -- --target "${running.target}" --seed '${options.seed}' --round ${running.seed.split("/").at(-1)}`
      )
      process.exit(1)
    }
    let seen = 0
    const timer = setInterval(() => {
      if (last.count() === seen) stalled()
      seen = last.count()
    }, stalledAfter)
    worker.on("message", (report: Report) => {
      if (report._tag === "Started") running = report
      else if (report._tag === "Found") {
        findings++
        onFound(report.message)
      } else {
        clearInterval(timer)
        resolve({ counts: new Map(Object.entries(report.counts)), findings })
      }
    })
    worker.on("error", (error) => {
      console.error(`${running.target} (seed ${running.seed}) ended the process:`, error)
      process.exit(1)
    })
  })

const main = async () => {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "1" },
      inputs: { type: "string" },
      workers: { type: "string", default: String(availableParallelism()) },
      seed: { type: "string", default: String(Date.now()) },
      target: { type: "string", default: "" },
      replay: { type: "string" },
      round: { type: "string" }
    }
  })
  const isRepeated = values.replay !== undefined || values.round !== undefined
  const workers = isRepeated ? 1 : Number(values.workers)
  const total = new SharedArrayBuffer(4)
  const counted = new Uint32Array(total)
  const startedAt = Date.now()
  const found = new Set<string>()
  const onFound = (message: string) => {
    // Workers may find the same problem.
    const [problem] = message.split("\n")
    if (found.has(problem)) return
    found.add(problem)
    process.exitCode = 1
    console.error(`FOUND ${message}\n`)
  }
  const rate = () => `${Math.round((counted[0] / (Date.now() - startedAt)) * 1000)} a second`
  const minute = setInterval(() => {
    console.log(`${new Date().toISOString()} ${counted[0]} inputs, ${found.size} findings, ${rate()}`)
  }, 60_000)
  const outcomes = await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      watch(
        {
          until: values.inputs === undefined ? startedAt + Number(values.minutes) * 60_000 : Infinity,
          inputs: values.inputs === undefined ? Infinity : Number(values.inputs),
          seed: values.seed,
          firstRound: Number(values.round ?? index),
          roundStep: isRepeated ? Infinity : workers,
          prefix: values.target,
          replay: values.replay,
          memory: new SharedArrayBuffer(2 ** 23),
          total
        },
        onFound
      )
    )
  )
  clearInterval(minute)
  for (const name of outcomes[0].counts.keys()) {
    const count = outcomes.reduce((sum, { counts }) => sum + counts.get(name)!, 0)
    console.log(`${String(count).padStart(9)} ${name}`)
  }
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  console.log(`${counted[0]} inputs in ${seconds} seconds (${rate()}), ${found.size} findings, seed ${values.seed}`)
}

if (isMainThread) {
  await main()
} else {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
  await fuzz(workerData as Options, (report) => parentPort!.postMessage(report))
}
