/** Prints what live messages cost people in virtual time: refusals, exactness, staleness, and how long replies to others wait. */
import * as Effect from "effect/Effect"
import { printCosts } from "../child.ts"
import * as grammy from "./grammy.ts"
import * as load from "./load.ts"
import * as ours from "./ours.ts"

const few = await Effect.runPromise(ours.run(10))
const many = await Effect.runPromise(ours.run(50))
const fewTheirs = await grammy.run(10)
const manyTheirs = await grammy.run(50)

printCosts({
  refused: [few.refused, many.refused],
  exact: [few.exact, many.exact],
  staleness: [few.staleness / load.bestInterval(10), many.staleness / load.bestInterval(50)],
  stalenessMillis: [few.staleness, many.staleness],
  reply: [few.reply, many.reply],
  records: [few.records, many.records],
  recorded: [few.recorded, many.recorded],
  grammyRefused: [fewTheirs.refused, manyTheirs.refused],
  grammyExact: [100 - fewTheirs.lost * 10, 100 - manyTheirs.lost * 2],
  grammyStaleness: [fewTheirs.staleness, manyTheirs.staleness],
  grammyReply: [fewTheirs.reply, manyTheirs.reply]
})
