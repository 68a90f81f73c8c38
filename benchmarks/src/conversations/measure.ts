import { costsOf, type Costs } from "../child.ts"
import { compare, median, type Measured } from "../figure.ts"
import { parked } from "./options.ts"

const lazily = (make: () => Promise<Costs>) => {
  let made: Promise<Costs> | undefined
  return () => (made ??= make())
}

const stored = lazily(() => costsOf("conversations/stored.ts"))

/** CPU time of an answer at 20 questions on SQLite, and how much of that of `effect/workflow` it is. */
export const cpu = async (): Promise<Measured> => {
  const costs = await costsOf("conversations/cpu.ts", "--expose-gc")
  const { detail, value } = compare(
    { name: "conversation", costs: costs["conversation"] },
    { name: "effect/workflow", costs: costs["workflow"] },
    "us CPU"
  )
  return {
    value: median(costs["conversation"]) / 1000,
    also: value,
    detail: `${detail}; with requests over sockets ${median(costs["sockets"]).toFixed(1)} us CPU`
  }
}

/** Bytes that a conversation stores after 20 turns, over the size of the file of the same on grammY. */
export const bytes = async (): Promise<Measured> => {
  const { bytes, grammY } = await stored()
  return compare({ name: "conversation", costs: bytes! }, { name: "grammY", costs: grammY! }, "bytes")
}

/** Rows that are left after conversations have ended. */
export const rows = async (): Promise<Measured> => {
  const [left] = (await stored())["rows"]
  return { value: left!, detail: `${left} rows of values, timers, journals and queued updates` }
}

/** Conversations that are stuck after a change of the code, and dead letters. */
export const deploys = async (): Promise<Measured> => {
  const { deadLetters, mutations, plays, stuck } = await costsOf("conversations/deploys.ts")
  return {
    value: stuck![0],
    also: deadLetters![0],
    detail: `${plays![0]} conversations, ${mutations![0]} changes of the code`
  }
}

/** Memory that conversations take while they wait. */
export const parkedMemory = async (): Promise<Measured> => {
  const { parked: growths } = await costsOf(["conversations/parked.ts", `--parked=${parked}`], "--expose-gc")
  return { value: growths![0], detail: `${parked} conversations` }
}
