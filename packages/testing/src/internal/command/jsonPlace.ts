import * as Result from "effect/Result"

/** Whether a text could go on to be JSON: it is, or all that is wrong is that it ends. */
const isBeginning = (text: string): boolean => {
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  if (Result.isSuccess(parsed)) return true
  const message = String(parsed.failure)
  const position = /at position (\d+)/.exec(message)?.[1]
  return position === undefined ? !message.includes("Unexpected token") : Number(position) >= text.length
}

/** Where a text that is not JSON goes wrong: the engine does not always say. */
export const placeOf = (text: string): string => {
  let right = 0
  let wrong = text.length + 1
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1
    if (isBeginning(text.slice(0, middle))) right = middle
    else wrong = middle
  }
  const before = text.slice(0, right).split("\n")
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`
}
