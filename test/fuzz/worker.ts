/** The loop of the fuzzer in one thread: all targets in turn, a batch of inputs each. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { run } from "./target.ts"
import { targets } from "./targets.ts"

export interface Options {
  /** The time at which the loop ends, in milliseconds. */
  readonly until: number
  /** The number of inputs of all threads after which the loop ends. */
  readonly inputs: number
  readonly seed: string
  /** Each round has a seed of its own. The threads divide the rounds among themselves. */
  readonly firstRound: number
  readonly roundStep: number
  /** The start of the names of targets. */
  readonly prefix: string
  readonly replay: string | undefined
  /** For {@link lastInput}. */
  readonly memory: SharedArrayBuffer
  /** The number of inputs of all threads. */
  readonly total: SharedArrayBuffer
}

export type Report =
  | { readonly _tag: "Started"; readonly target: string; readonly seed: string }
  | { readonly _tag: "Found"; readonly message: string }
  | { readonly _tag: "Done"; readonly counts: Readonly<Record<string, number>> }

const batch = 200

/** The number of inputs, and the last one as UTF-8, for the report of an input that never ends. */
export const lastInput = (memory: SharedArrayBuffer) => {
  const header = new Uint32Array(memory, 0, 2)
  const bytes = new Uint8Array(memory, 8)
  const encoder = new TextEncoder()
  return {
    write: (input: string) => {
      header[0]++
      header[1] = encoder.encodeInto(input, bytes).written
    },
    count: () => header[0],
    read: () => new TextDecoder().decode(bytes.slice(0, header[1]))
  }
}

/** Runs the targets whose names begin with the prefix, until a time or a number of inputs. */
export const fuzz = async (options: Options, report: (report: Report) => void): Promise<void> => {
  const { firstRound, inputs, memory, prefix, replay, roundStep, seed, until } = options
  const chosen = (await targets()).filter(({ name }) => name.startsWith(prefix))
  if (chosen.length === 0) throw new Error(`No target starts with "${prefix}".`)
  const counts = Object.fromEntries(chosen.map(({ name }) => [name, 0]))
  const found = new Set<string>()
  const total = new Uint32Array(options.total)
  const { write } = lastInput(memory)
  const isOver = () => Atomics.load(total, 0) >= inputs || Date.now() >= until
  const runsOf = (share = 1) => Math.max(1, Math.round(batch * share))
  for (let round = firstRound; round === firstRound || (round < Infinity && !isOver()); round += roundStep) {
    for (const target of chosen) {
      if (found.has(target.name) || (round > firstRound && isOver())) continue
      const onInput = (input: string) => {
        counts[target.name]++
        Atomics.add(total, 0, 1)
        write(input)
      }
      const options = { seed: `${seed}/${round}`, runs: runsOf(target.share), replay, onInput }
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
