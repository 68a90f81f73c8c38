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

/** How often the journal records an answer in a second, and how many characters for each of its text. */
export const records = async (): Promise<Measured> => {
  const { recorded, records } = await costs()
  const characters = Math.max(...recorded!).toFixed(1)
  return { value: most(records!), detail: `${characters} characters are recorded for each of the text` }
}
