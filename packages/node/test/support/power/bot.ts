/**
 * A bot that marks what was confirmed: `bot.ts FOLDER SYNCHRONOUS`. It handles messages of an emulator in its process, which
 * arrive by a webhook and, after a restart of the bot, by long polling. At its end it kills itself.
 */
import {
  Bot,
  BotApi,
  Handler,
  Inbox,
  Journal,
  LongPolling,
  Messages,
  RateLimiter,
  State,
  Timer,
  Update,
  type Updates,
  Webhook
} from "@colloquy/core"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite, SqlInboxStore } from "@colloquy/node"
import { Emulator, type EmulatorHttp, type Person } from "@colloquy/testing"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { type Mark, marksName, numbersName, databaseName } from "./protocol.ts"

const chats = 12

const messages = { webhook: 150, polling: 50 }

const url = "https://bot.example/updates"

const [folder = "", synchronous = ""] = process.argv.slice(2)

const sqlite = (synchronous === "" ? {} : { synchronous }) as Pick<NodeSqlite.Options, "synchronous">

const marks = openSync(join(folder, marksName), "a")

const mark = (mark: Mark) => void writeSync(marks, `${JSON.stringify(mark)}\n`)

class Refused extends Data.TaggedError("Refused") {}

const Numbers = State.make(numbersName, Schema.Array(Schema.Int), { of: "chat", initial: () => [] })

const Later = Timer.make("later", Schema.Int)

const receipts = new Map<number, string>()

const handle = Handler.on("message_created", (update) =>
  Effect.gen(function* () {
    const number = Number(Update.textOf(update))
    const receipt = Effect.sync(() => `receipt ${number} of ${Math.random()}`)
    receipts.set(number, yield* Journal.step("receipt", Schema.String, receipt))
    yield* Messages.reply(update, `reply ${number}`)
    if (number % 17 === 0) return yield* new Refused()
    yield* Numbers.update((numbers) => [...numbers, number])
    yield* Later.in("10 days", number, { key: String(number) })
  })
)

/** Whether the bot has begun to poll: the platform keeps no updates of earlier times for it. */
const polled = Deferred.makeUnsafe<void>()

let settled = 0

const isSettled = (total: number) =>
  Effect.repeat(
    Effect.sync(() => settled),
    { until: (settled) => settled >= total, schedule: Schedule.spaced("2 millis") }
  )

/** Marks the updates whose commits the store has confirmed. */
const marking = Layer.effect(
  InboxStore,
  Effect.map(InboxStore, (store) => ({
    ...store,
    commit: (commits: Parameters<typeof store.commit>[0]) =>
      Effect.tap(store.commit(commits), (results) =>
        Effect.sync(() => {
          commits.forEach(({ completed }, index) => {
            if (results[index] !== "applied") return
            for (const { id } of completed) mark({ type: "settled", id })
            settled += completed.length
          })
        })
      )
  }))
)

const numbersIn = (text: string) => [...text.matchAll(/"text":"(\d+)"/g)].map(([, number]) => Number(number))

/** Marks the pages that the bot has confirmed by asking for the next one, and the messages that the bot sends. */
const pages = new Map<string, ReadonlyArray<number>>()

const watch: EmulatorHttp.Interceptor = Effect.fnUntraced(function* (request, next) {
  const { method, path, query } = request
  if (method === "POST" && path === "/messages") {
    const number = Number(/"reply (\d+)"/.exec(yield* Effect.orDie(request.body.text))?.[1])
    mark({ type: "sent", number, receipt: receipts.get(number)! })
  }
  if (path !== "/updates") return yield* next
  yield* Deferred.succeed(polled, undefined)
  const marker = new URLSearchParams(query).get("marker") ?? ""
  for (const number of pages.get(marker) ?? []) mark({ type: "stored", number })
  if (pages.delete(marker)) mark({ type: "page", marker })
  const response = yield* next
  const { marker: following } = JSON.parse(response.body) as { readonly marker?: number }
  if (following !== undefined) pages.set(String(following), numbersIn(response.body))
  return response
})

const api = BotApi.layer({ token: Redacted.make("emulator-token"), baseUrl: Emulator.baseUrl }).pipe(
  Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited))
)

const inbox = Inbox.layer().pipe(
  Layer.provide(marking),
  Layer.provide(SqlInboxStore.layer()),
  Layer.provide(NodeSqlite.layer({ filename: join(folder, databaseName), ...sqlite }))
)

/** Marks the deliveries that the webhook has answered with 200. */
const receive = Effect.gen(function* () {
  const webhook = yield* Webhook.Webhook
  yield* Emulator.receive(url, ({ body, headers, url }) =>
    Effect.tap(
      webhook.handle({
        method: "POST",
        url,
        header: (name) => headers[name],
        body: Effect.succeed(new TextEncoder().encode(body))
      }),
      ({ status }) =>
        Effect.sync(() => status === 200 && numbersIn(body).forEach((number) => mark({ type: "stored", number })))
    )
  )
})

const webhook = Layer.effectDiscard(receive).pipe(
  Layer.provideMerge(Webhook.layer({ url, secret: "the-secret-of-the-bot", unsubscribeAtStop: true }))
)

const bot = Bot.run(handle, { concurrency: 8, retry: Schedule.recurs(1) })

const program = Effect.gen(function* () {
  yield* Emulator.intercept(watch)
  const people = yield* Effect.forEach(Array.from({ length: chats }), (_, index) => Emulator.user(`Ann ${index}`))
  let sent = 0

  const talk = Effect.fnUntraced(function* (count: number) {
    const last = sent + count
    for (; sent < last; sent++) {
      const person = people[(sent * 7) % chats]!
      yield* person.send(String(sent))
    }
    // The first message of a person follows a `bot_started`.
    yield* isSettled(last + chats)
  })

  const run = <E>(
    source: Layer.Layer<Updates.Updates, E, BotApi.BotApi | Inbox.Inbox | Emulator.Emulator>,
    program: Effect.Effect<unknown, Person.PersonError>
  ) => Effect.raceFirst(bot, program).pipe(Effect.provide(Layer.provideMerge(source, Layer.merge(api, inbox))))
  yield* run(webhook, talk(messages.webhook))
  yield* run(LongPolling.layer(), Effect.andThen(Deferred.await(polled), talk(messages.polling)))
  const kill = Effect.sync(() => process.kill(process.pid, "SIGKILL"))
  yield* run(LongPolling.layer(), Effect.andThen(talk(messages.polling), kill))
})

await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(Layer.merge(Emulator.layer(), Logger.layer([])))))
