/** Prints the time to decode an update from its bytes, in microseconds. */
import { Update } from "@colloquy/core"
import * as Result from "effect/Result"
import { printCosts } from "./child.ts"
import { messageCreated } from "./sample.ts"
import { parseWithZod } from "./zod.ts"

const rounds = 15
const times = 20_000

const bytes = new TextEncoder().encode(messageCreated)
const decoder = new TextDecoder()

const contenders: Readonly<Record<string, () => unknown>> = {
  "JSON.parse": () => JSON.parse(decoder.decode(bytes)),
  "Update.parse": () => Update.parse(decoder.decode(bytes)),
  zod: () => parseWithZod(decoder.decode(bytes))
}

const update = Result.getOrThrow(Update.parse(messageCreated))
const exact = 116260864008126464n
if (update.update_type !== "message_created" || update.message?.body?.seq !== exact) throw new Error("not the update")
if (parseWithZod(messageCreated).message?.body?.seq !== exact) throw new Error("zod: not the update")

const measure = (run: () => unknown): number => {
  const start = performance.now()
  for (let i = 0; i < times; i++) run()
  return ((performance.now() - start) / times) * 1000
}

for (const run of Object.values(contenders)) measure(run)
const costs = Object.fromEntries(Object.keys(contenders).map((name) => [name, new Array<number>()]))
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(contenders)) costs[name].push(measure(run))
}
printCosts(costs)
