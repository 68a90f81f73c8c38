import { Bot, Handler, Inbox, LiveMessage, Messages, RateLimiter, Update, Updates } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Emulator } from "@colloquy/testing"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { percentile } from "../figure.ts"
import * as load from "./load.ts"

const balanced = (html: string): boolean => {
  const open: Array<string> = []
  for (const [, closing, tag] of html.matchAll(/<(\/?)(\w+)[^>]*>/g)) {
    if (closing === "") open.push(tag!)
    else if (open.pop() !== tag) return false
  }
  return open.length === 0 && !/\*\*|```|\]\(/.test(html)
}

const answer = Stream.fromIterable(load.tokens).pipe(
  Stream.rechunk(1),
  Stream.mapEffect((token) => Effect.delay(Effect.succeed(token), load.tokenMillis))
)

/** An inbox in memory, and how much its journals have written. */
const countingInbox = Effect.map(InboxStore.makeMemory, (store) => {
  const written = { records: 0, characters: 0 }
  const write: typeof store.write = (writes) =>
    Effect.suspend(() => {
      written.records += writes.length
      for (const { row } of writes.flatMap(({ rows }) => rows)) written.characters += row?.text.length ?? 0
      return store.write(writes)
    })
  const layer = Inbox.layer().pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, { ...store, write })))
  return { layer, written }
})

/** Answers many chats at once, and replies to others meanwhile. */
export const run = (chats: number) =>
  Effect.gen(function* () {
    const people = yield* Effect.forEach(
      Array.from({ length: chats }, (_, index) => `Person ${index}`),
      Emulator.user
    )
    const dialogs = yield* Effect.forEach(people, (person) => person.start())
    const others = yield* Effect.forEach(["Ann", "Bob", "Cid", "Dan"], Emulator.user)
    const otherDialogs = yield* Effect.forEach(others, (person) => person.start())
    // The first requests of a process open connections, and the limiter counts them as late ones.
    const warmUp = Effect.forEach(Array.from({ length: 20 }), () =>
      Messages.send({ chat_id: otherDialogs[0]!.chat_id, text: "Warm" })
    )
    const warming = yield* Effect.forkChild(warmUp)
    yield* Effect.repeat(TestClock.adjust(100), { times: 120 })
    yield* Fiber.join(warming)
    const startedAt = new Map<number, number>()
    const waited: Array<number> = []

    const handler = Handler.on("message_created", (update) =>
      Effect.gen(function* () {
        const chat_id = Update.chatOf(update)!
        yield* Effect.sleep(dialogs.findIndex((dialog) => dialog.chat_id === chat_id) * load.startMillis)
        const now = yield* Clock.currentTimeMillis
        startedAt.set(chat_id, now)
        yield* LiveMessage.reply(update, answer)
      })
    )
    const inbox = yield* countingInbox
    const answering = Updates.make(Stream.fromIterable(yield* updatesOf(people))).pipe(
      Effect.flatMap((source) => Bot.run(handler, { source, concurrency: chats, timeout: "10 minutes" })),
      Effect.provide(inbox.layer)
    )
    const bot = yield* Effect.forkChild(answering)
    const replying = yield* Effect.forkChild(
      Effect.forEach(
        Array.from({ length: load.seconds * load.repliesPerSecond }, (_, index) => index),
        (index) =>
          Effect.gen(function* () {
            // Not in step with the tokens.
            yield* Effect.sleep(1000 / load.repliesPerSecond + (index % 7))
            const begin = yield* Clock.currentTimeMillis
            const { chat_id } = otherDialogs[index % otherDialogs.length]!
            const reply = Messages.send({ chat_id, text: `Reply ${index}` }).pipe(
              RateLimiter.withPriority("reply"),
              Effect.andThen(Clock.currentTimeMillis),
              Effect.map((end) => void waited.push(end - begin))
            )
            return yield* Effect.forkChild(reply)
          })
      )
    )
    yield* Effect.repeat(TestClock.adjust(5), { times: (load.seconds + 15) * 200 })
    yield* Fiber.join(replying)
    yield* Fiber.join(bot)

    const exchanges = yield* Emulator.requests
    const refused = exchanges.filter(({ status }) => status === 429).length
    const edits = exchanges.filter(
      ({ endpoint, status }) => status === 200 && (endpoint === "Messages.edit" || endpoint === "Messages.send")
    )
    const shown = new Map<number, Array<load.Shown>>()
    let balancedCount = 0
    for (const { at, body, chat_id } of edits) {
      const text = (JSON.parse(body ?? "{}") as { readonly text?: string }).text ?? ""
      if (balanced(text)) balancedCount++
      const start = startedAt.get(chat_id ?? 0)
      if (start === undefined) continue
      const list = shown.get(chat_id!) ?? []
      shown.set(chat_id!, list)
      list.push({ token: load.lastToken(text.replace(/<[^>]*>/g, "")), at: at - start })
    }
    const finals = yield* Effect.forEach(dialogs, (dialog) =>
      Effect.map(Emulator.messages(dialog), (messages) =>
        messages.flatMap(({ body, sender }) => (sender?.is_bot === true ? [body?.text ?? ""] : [])).join("")
      )
    )
    const exact = finals.filter((text) => load.withoutSpace(text) === load.withoutSpace(load.text)).length
    return {
      refused,
      exact: (exact / chats) * (balancedCount / edits.length) * 100,
      staleness: percentile([...shown.values()].flatMap(load.ages), 0.99),
      reply: percentile(waited, 0.99),
      requests: exchanges.length,
      records: inbox.written.records / chats / load.seconds,
      recorded: inbox.written.characters / chats / load.tokens.join("").length
    }
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Emulator.layerBot({ clientLimits: RateLimiter.defaults }).pipe(Layer.provideMerge(TestClock.layer()))
    )
  )

/** The updates of people who ask at once. */
const updatesOf = (people: ReadonlyArray<Effect.Success<ReturnType<typeof Emulator.user>>>) =>
  Effect.gen(function* () {
    yield* Effect.forEach(people, (person) => person.send("Tell me"))
    const updates = yield* Emulator.updates
    return updates.filter(({ update_type }) => update_type === "message_created")
  })
