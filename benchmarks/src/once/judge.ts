import type { Scenario } from "./scenario.ts"

/** What a press or a timer has to leave in its chat. */
const expected = (of: Scenario["of"], index: number): Readonly<Record<string, number>> => ({
  ...(of === "presses" ? { [`${index} first`]: 1, [`${index} again`]: 2 } : {}),
  [`${index} timer`]: 1
})

/** Compares what stands in the chats with what was sent. Throws if a chat contains something else, or another order. */
export const judge = (
  { count: total, of }: Scenario,
  texts: ReadonlyArray<ReadonlyArray<string>>
): { readonly missing: number; readonly doubled: number } => {
  let missing = 0
  let doubled = 0
  for (const [chat, inChat] of texts.entries()) {
    const counts = new Map<string, number>()
    let last = -1
    for (const text of inChat) {
      if (text.endsWith(" first") && !counts.has(text)) {
        const index = Number.parseInt(text)
        if (index < last) throw new Error(`The update ${index} was handled after ${last}, a later one of its chat`)
        last = index
      }
      counts.set(text, (counts.get(text) ?? 0) + 1)
    }
    for (let index = chat; index < total; index += texts.length) {
      for (const [text, count] of Object.entries(expected(of, index))) {
        const found = counts.get(text) ?? 0
        counts.delete(text)
        missing += Math.max(0, count - found)
        doubled += Math.max(0, found - count)
      }
    }
    const [other] = counts.keys()
    if (other !== undefined) throw new Error(`A chat contains ${JSON.stringify(other)}, which nothing has sent there`)
  }
  return { missing, doubled }
}
