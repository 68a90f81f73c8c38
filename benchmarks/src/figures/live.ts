import { costsOf } from "../child.ts"
import { type Figure, lazily, type Measured } from "../figure.ts"

const costs = lazily(() => costsOf("live/main.ts"))

const atBoth = (values: ReadonlyArray<number>, unit = ""): string =>
  values.map((value, index) => `${Math.round(value)}${unit} at ${index === 0 ? 10 : 50} chats`).join(", ")

const most = (values: ReadonlyArray<number>) => Math.max(...values)

/** A value at 10 and at 50 chats, beside that of grammY. */
const overGrammy =
  (value: string, ofGrammy: string, unit: string, pick = most, shown = value) =>
  async (): Promise<Measured> => {
    const all = await costs()
    return {
      value: pick(all[value]),
      detail: `${atBoth(all[shown], unit)}; grammY with its stream and auto-retry plugins: ${atBoth(all[ofGrammy], unit)}`
    }
  }

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "live-refused",
    measures:
      "429 responses while 10 and then 50 chats get answers of 40 tokens a second for 60 seconds, in virtual time",
    unit: "requests",
    goal: 0,
    measure: overGrammy("refused", "grammyRefused", " refused")
  },
  {
    figure: "live-exact",
    measures: "of these answers, those whose final text is that of the stream, if the markup of each edit is balanced",
    unit: "ratio",
    goal: 1,
    isMinimum: true,
    measure: overGrammy("exact", "grammyExact", " %", (values) => Math.min(...values) / 100)
  },
  {
    figure: "live-staleness",
    measures:
      "how long the oldest word that an edit adds has waited for it, p99, over the shortest time between two edits of a chat that the limits allow beside one reply a second to other chats; the answers begin 0.1 seconds after each other",
    unit: "ratio",
    goal: 1.2,
    measure: overGrammy("staleness", "grammyStaleness", " ms", most, "stalenessMillis")
  },
  {
    figure: "live-reply-p99-ms",
    measures: "how long replies to other chats wait meanwhile, p99",
    unit: "ms",
    goal: 200,
    measure: overGrammy("reply", "grammyReply", " ms")
  },
  {
    figure: "live-records",
    measures:
      "writes of the journal for such an answer, the most at 10 and at 50 chats: its text while it grows, and its messages",
    unit: "per second",
    goal: 1.5,
    measure: async () => {
      const { recorded, records } = await costs()
      return {
        value: most(records),
        detail: `${most(recorded).toFixed(1)} characters are recorded for each of the text`
      }
    }
  }
]
