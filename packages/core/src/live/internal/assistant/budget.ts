import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"

// All platforms have `TextEncoder`, but the compiler options of this package include no platform types.
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

/** Splits messages into exchanges, each of which begins with a message of the user. */
const exchangesOf = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<ReadonlyArray<Prompt.Message>> => {
  const exchanges: Array<Array<Prompt.Message>> = []
  for (const message of messages) {
    if (message.role === "user") exchanges.push([message])
    else exchanges.at(-1)?.push(message)
  }
  return exchanges
}

/** Returns the latest exchanges whose tokens are at most `budget` together. The results of functions stay with their calls. */
export const withinBudget = <E, R>(
  messages: ReadonlyArray<Prompt.Message>,
  budget: number,
  count: (messages: ReadonlyArray<Prompt.Message>) => Effect.Effect<number, E, R>
): Effect.Effect<ReadonlyArray<Prompt.Message>, E, R> =>
  Effect.gen(function* () {
    let left = budget
    const kept: Array<Prompt.Message> = []
    for (const exchange of exchangesOf(messages).toReversed()) {
      left -= yield* count(exchange)
      if (left < 0) break
      kept.unshift(...exchange)
    }
    return kept
  })

const bytesPerToken = 4

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value
  if (typeof value === "object" && value !== null) return Object.values(value).map(textOf).join(" ")
  return String(value)
}

const overhead = 4

/** Estimates the tokens of messages: a quarter of their UTF-8 bytes, and some for each message. */
export const estimate = (messages: ReadonlyArray<Prompt.Message>): number =>
  messages.reduce((sum, { content }) => sum + overhead + Math.ceil(bytesOf(textOf(content)) / bytesPerToken), 0)
