/** Handlers that add statements to the commits of their updates, or of groups of updates. The store is SQLite. */
import * as Commit from "@colloquy/core/bot/Commit"
import * as Deliveries from "@colloquy/core/inbox/Deliveries"
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Update from "@colloquy/core/model/Update"
import * as Bot from "@colloquy/core/bot/Bot"
import * as Updates from "@colloquy/core/inbox/Updates"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Simulation } from "../../simulation.ts"
import { recorded } from "../instrument.ts"
import { say } from "../people.ts"
import type { Host, Program } from "../program.ts"
import { auditRows } from "./audit.ts"
import { type Batches, calmerRows, planRows, type RowsPlan, smallerRows, type Step } from "./plan.ts"

class Declined extends Schema.TaggedError<Declined>()("Declined", {}) {}

/** A message that is handled. */
interface Handled {
  readonly chat: string
  readonly text: string
}

const handledOf = (update: Update.Update): Handled => ({
  chat: String(Update.chatOf(update)),
  text: Update.textOf(update) ?? ""
})

const authorOf = ({ author }: Host) => {
  if (author === undefined) throw new Error('The program "rows" needs the store "sqlite".')
  return author
}

/** Counts messages in the total of all chats, if the total is still what the handler has read. */
const addTotal = (host: Host, messages: number) =>
  Effect.gen(function* () {
    const { rows, sql } = authorOf(host)
    const { total } = yield* rows
    const statement = sql`UPDATE total SET updates = updates + ${messages} WHERE updates = ${total}`
    yield* Commit.add(statement, { expectedRows: 1 })
  })

const take = (host: Host, step: Exclude<Step, { type: "total" }>, detail: string) =>
  Effect.gen(function* () {
    const { process, strikes, world } = host
    if (step.type === "sleep") return yield* Effect.sleep(world.dice.int(step.millis + 1))
    if (!strikes("handler", process, detail)) return
    if (step.type === "fail") return yield* new Declined()
    yield* Commit.add(authorOf(host).sql`INSERT INTO missing (chat) VALUES (${detail})`)
  })

const handle = ({ chats }: RowsPlan, host: Host, messages: ReadonlyArray<Handled>) =>
  Effect.gen(function* () {
    const { sql } = authorOf(host)
    const log = (part: string) =>
      Effect.forEach(messages, ({ chat, text }) =>
        Commit.add(sql`INSERT INTO log (chat, subject, part) VALUES (${chat}, ${text}, ${part})`)
      )
    yield* log("first")
    for (const { chat } of messages) {
      yield* Commit.add(sql`INSERT INTO counts (chat, updates) VALUES (${chat}, 1)
        ON CONFLICT (chat) DO UPDATE SET updates = updates + 1`)
    }
    const all = chats.flat().filter(({ text }) => messages.some((message) => message.text === text))
    const counted = all.filter(({ steps }) => steps.some(({ type }) => type === "total"))
    for (const { steps, text } of all)
      for (const step of steps) if (step.type !== "total") yield* take(host, step, text)
    if (counted.length > 0) yield* addTotal(host, counted.length)
    yield* log("last")
  })

/** Handles a group, and acknowledges the group by hand, some time later. */
const settleByHand =
  (plan: RowsPlan, host: Host, wait: number) =>
  <S>(delivery: Deliveries.Delivery<ReadonlyArray<Handled>, S>) =>
    Deliveries.provide(handle(plan, host, delivery.value), delivery).pipe(
      Effect.andThen(Effect.sleep(host.world.dice.int(wait + 1))),
      Effect.andThen(delivery.ack),
      Effect.catchCause(() => delivery.retry({ after: 1000 }))
    )

const runBatches = (plan: RowsPlan, batches: Batches, host: Host) => {
  const { byHand, closeAfter, concurrency, millis, perChat, size } = batches
  const { maxCrashes, maxInMemory, retry } = host.runOptions
  const closing = Effect.suspend(() =>
    host.world.isFaulty && closeAfter !== undefined ? Effect.sleep(closeAfter) : (Effect.never as Effect.Effect<void>)
  )
  const groups = Updates.deliveries({ perChat, maxCrashes, maxInMemory }).pipe(
    Stream.interruptWhen(closing),
    Deliveries.on("message_created"),
    Deliveries.map(handledOf),
    Deliveries.groupedWithin(size, millis)
  )
  const pipeline =
    byHand === undefined
      ? Deliveries.runForEach(groups, (messages) => handle(plan, host, messages), { concurrency, retry })
      : Stream.runDrain(Stream.mapEffect(groups, settleByHand(plan, host, byHand), { concurrency }))
  // An acknowledgement fails if the store is unavailable when the stream closes.
  const isTemporary = (error: unknown) => Predicate.hasProperty(error, "isRetryable") && error.isRetryable === true
  return Effect.forever(Effect.catchIf(pipeline, isTemporary, () => Effect.void))
}

const bot = (plan: RowsPlan, host: Host) => {
  if (plan.batches !== undefined) return runBatches(plan, plan.batches, host)
  const onMessage = Handler.on("message_created", (update) => {
    const message = handledOf(update)
    return recorded(host, message.chat, message.text, handle(plan, host, [message]))
  })
  return Bot.run(onMessage, host.runOptions)
}

const people = ({ chats }: RowsPlan, simulation: Simulation) =>
  Effect.forEach(
    chats,
    Effect.fnUntraced(function* (messages, index) {
      const person = yield* Emulator.user(`Person ${index}`)
      yield* person.start()
      for (const { text, wait } of messages) {
        yield* Effect.sleep(wait)
        yield* say(simulation, person, text)
      }
    }),
    { concurrency: "unbounded", discard: true }
  )

export const rows: Program<RowsPlan> = {
  plan: planRows,
  smaller: smallerRows,
  calmer: calmerRows,
  bot,
  people,
  audit: auditRows
}
