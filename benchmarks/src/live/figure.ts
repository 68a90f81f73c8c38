import { costsOf } from "../child.ts"
import type { Measured } from "../figure.ts"

let measured: ReturnType<typeof costsOf> | undefined

const costs = () => (measured ??= costsOf("live/main.ts"))

const atBoth = (values: ReadonlyArray<number>, unit = ""): string =>
  values.map((value, index) => `${Math.round(value)}${unit} at ${index === 0 ? 10 : 50} chats`).join(", ")

const figure =
  (value: string, ofGrammy: string, unit: string, pick: (values: ReadonlyArray<number>) => number, shown = value) =>
  async (): Promise<Measured> => {
    const all = await costs()
    return {
      value: pick(all[value]!),
      detail: `${atBoth(all[shown]!, unit)}; grammY with its stream and auto-retry plugins: ${atBoth(all[ofGrammy]!, unit)}`
    }
  }

const most = (values: ReadonlyArray<number>) => Math.max(...values)

export const refused = figure("refused", "grammyRefused", " refused", most)
export const exact = figure("exact", "grammyExact", " %", (values) => Math.min(...values) / 100)
export const staleness = figure("staleness", "grammyStaleness", " ms", most, "stalenessMillis")
export const reply = figure("reply", "grammyReply", " ms", most)
