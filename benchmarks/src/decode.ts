/** Prints the time to decode an update from its bytes, in microseconds. */
import { Update } from "@colloquy/core"
import * as Result from "effect/Result"
import { printCosts } from "./child.ts"
import { millisOf, takeTurns } from "./rounds.ts"
import { messageCreated } from "./sample.ts"
import { parseWithZod } from "./zod.ts"

const times = 20_000

const bytes = new TextEncoder().encode(messageCreated)
const decoder = new TextDecoder()

const costOf = (decode: (text: string) => unknown) => async (): Promise<number> => {
  const millis = await millisOf(() => {
    for (let i = 0; i < times; i++) decode(decoder.decode(bytes))
  })
  return (millis / times) * 1000
}

const contenders = {
  "JSON.parse": costOf((text) => JSON.parse(text)),
  "Update.parse": costOf((text) => Update.parse(text)),
  zod: costOf((text) => parseWithZod(text))
}

const update = Result.getOrThrow(Update.parse(messageCreated))
const exact = 116260864008126464n
if (update.update_type !== "message_created" || update.message?.body?.seq !== exact) throw new Error("not the update")
if (parseWithZod(messageCreated).message?.body?.seq !== exact) throw new Error("zod: not the update")

printCosts(await takeTurns(contenders, { rounds: 15 }))
