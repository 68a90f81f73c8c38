/**
 * Fuzzes the library and the emulator: `npm run fuzz -- --minutes 10 --seed 7 --target webhook`.
 *
 * - `--minutes`: how long it runs. Default: 1. `--inputs`: the number of inputs instead.
 * - `--seed`: the seed. Default: the time. `--target`: the start of the names of targets. Default: all.
 * - `--replay`: repeats one finding, with the token that it was reported with.
 *
 * Prints the inputs of each target at the end, and each finding with its shrunk input. Exits with 1 after a finding. An
 * input that never ends is reported by its seed.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { parseArgs } from "node:util"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"
import { excerpt, run } from "../test/fuzz/target.ts"
import { targets } from "../test/fuzz/targets.ts"

interface Options {
  readonly until: number
  readonly inputs: number
  readonly seed: string
  readonly prefix: string
  readonly replay: string | undefined
  readonly memory: SharedArrayBuffer
}

type Report =
  | { readonly _tag: "Started"; readonly target: string; readonly seed: string }
  | { readonly _tag: "Found"; readonly message: string }
  | { readonly _tag: "Done"; readonly counts: Readonly<Record<string, number>> }

const batch = 200

/** For targets whose texts are long. */
const longBatch = 20

/** The number of inputs, and the last one as UTF-8, for the report of an input that never ends. */
const lastInput = (memory: SharedArrayBuffer) => {
  const header = new Uint32Array(memory, 0, 2)
  const bytes = new Uint8Array(memory, 8)
  return {
    write: (input: string) => {
      header[0]++
      header[1] = new TextEncoder().encodeInto(input, bytes).written
    },
    count: () => header[0],
    read: () => new TextDecoder().decode(bytes.slice(0, header[1]))
  }
}

const stalledAfter = 30_000

/** Runs the targets in turn, a batch of inputs each. */
const fuzz = async ({ inputs, memory, prefix, replay, seed, until }: Options, report: (report: Report) => void) => {
  const chosen = (await targets()).filter(({ name }) => name.startsWith(prefix))
  if (chosen.length === 0) throw new Error(`No target starts with "${prefix}".`)
  const counts = Object.fromEntries(chosen.map(({ name }) => [name, 0]))
  const found = new Set<string>()
  const { write } = lastInput(memory)
  const total = () => Object.values(counts).reduce((sum, count) => sum + count, 0)
  for (let round = 0; replay === undefined ? total() < inputs && Date.now() < until : round === 0; round++) {
    for (const target of chosen) {
      if (found.has(target.name) || (round > 0 && (total() >= inputs || Date.now() >= until))) continue
      const onInput = (input: string) => {
        counts[target.name]++
        write(input)
      }
      const options = {
        seed: `${seed}/${round}`,
        runs: target.maxMillis === undefined ? batch : longBatch,
        replay,
        onInput
      }
      report({ _tag: "Started", target: target.name, seed: options.seed })
      const result = await Effect.runPromise(Effect.result(run(target, options)))
      if (Result.isSuccess(result)) continue
      found.add(target.name)
      report({ _tag: "Found", message: result.failure.message })
    }
    if (found.size === chosen.length) break
  }
  report({ _tag: "Done", counts })
}

const watch = (options: Options) => {
  const worker = new Worker(new URL(import.meta.url), { workerData: options, execArgv: ["--conditions=source"] })
  let findings = 0
  let running = { target: "", seed: "" }
  const last = lastInput(options.memory)
  const stalled = () => {
    console.error(`${running.target}: did not end within ${stalledAfter / 1000} seconds.`)
    const input = last.read()
    console.error(`Input (${input.length} characters): ${excerpt(input)}`)
    console.error(`Repeat: npm run fuzz -- --target "${running.target}" --seed '${running.seed.split("/")[0]}'`)
    process.exit(1)
  }
  let seen = 0
  const timer = setInterval(() => {
    if (last.count() === seen) stalled()
    seen = last.count()
  }, stalledAfter)
  worker.on("message", (report: Report) => {
    if (report._tag === "Done") {
      clearInterval(timer)
      for (const [name, count] of Object.entries(report.counts)) console.log(`${String(count).padStart(9)} ${name}`)
      const total = Object.values(report.counts).reduce((sum, count) => sum + count, 0)
      console.log(`${total} inputs, ${findings} findings, seed ${options.seed}`)
      return
    }
    if (report._tag === "Found") {
      findings++
      process.exitCode = 1
      console.error(`FOUND ${report.message}\n`)
    } else {
      running = report
      if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${report.seed} ${report.target}`)
    }
  })
  worker.on("error", (error) => {
    console.error(`${running.target} (seed ${running.seed}) ended the process:`, error)
    process.exit(1)
  })
}

if (isMainThread) {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "1" },
      inputs: { type: "string" },
      seed: { type: "string", default: String(Date.now()) },
      target: { type: "string", default: "" },
      replay: { type: "string" }
    }
  })
  const inputs = values.inputs === undefined ? Infinity : Number(values.inputs)
  const until = values.inputs === undefined ? Date.now() + Number(values.minutes) * 60_000 : Infinity
  watch({
    until,
    inputs,
    seed: values.seed,
    prefix: values.target,
    replay: values.replay,
    memory: new SharedArrayBuffer(2 ** 23)
  })
} else {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
  await fuzz(workerData as Options, (report) => parentPort!.postMessage(report))
}
