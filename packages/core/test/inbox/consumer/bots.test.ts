import {
  Bot,
  BotApi,
  ChatStore,
  Handler,
  Inbox,
  LongPolling,
  Me,
  Messages,
  RateLimiter,
  Update,
  Updates,
  Webhook
} from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

const first = "first-token"
const second = "second-token"

const platform = Emulator.layer({ token: first, moreTokens: [second] })

/** Everything of one bot of the emulator, except for its source. */
const services = (token: string) =>
  BotApi.layer({ token: Redacted.make(token), baseUrl: Emulator.baseUrl }).pipe(
    Layer.provideMerge(RateLimiter.layerMemory(RateLimiter.unlimited)),
    Layer.merge(Inbox.layerMemory()),
    Layer.merge(ChatStore.layerMemory)
  )

const polling = (token: string) => LongPolling.layer().pipe(Layer.provideMerge(services(token)), Updates.fromLayer)

const nameAndText = Handler.on("message_created", (update) =>
  Effect.flatMap(Me.get(), ({ user_id }) => Messages.reply(update, `${user_id}: ${Update.textOf(update)}`))
)

/** Two people talk to both bots, and see who answers. */
const conversation = Effect.gen(function* () {
  const bots = yield* Emulator.bots
  const answers: Array<string | null | undefined> = []
  const people = yield* Effect.forEach(["Ann", "Ben"], Emulator.user)
  for (const person of people) {
    for (const bot of bots) {
      yield* person.with(bot).send("hello")
      answers.push((yield* person.with(bot).reply).body?.text)
    }
  }
  const [one, two] = bots.map(({ user_id }) => `${user_id}: hello`)
  assert.deepStrictEqual(answers, [one, two, one, two])
})

describe("several bots in one program", () => {
  it.effect("answer by their own token, with one handler for both", () =>
    Effect.gen(function* () {
      const bots = [yield* polling(first), yield* polling(second)]
      const run = Effect.forEach(bots, (bot) => Bot.run(nameAndText, { source: bot }), { concurrency: "unbounded" })
      yield* Effect.raceFirst(conversation, run)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("answer by their own token, as values of LongPolling.make", () =>
    Effect.gen(function* () {
      const bots = yield* Effect.forEach([first, second], (token) =>
        Effect.flatMap(Layer.build(services(token)), (context) => Effect.provideContext(LongPolling.make(), context))
      )
      const run = Effect.forEach(bots, (bot) => Bot.run(nameAndText, { source: bot }), { concurrency: "unbounded" })
      yield* Effect.raceFirst(conversation, run)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("answer by their own token, as values of Webhook.make", () =>
    Effect.gen(function* () {
      const start = Effect.fnUntraced(function* (token: string) {
        const url = `https://bot.example/${token}`
        const bot = yield* Effect.provideContext(Webhook.make({ url }), yield* Layer.build(services(token)))
        const webhook = Context.get(bot.services, Webhook.Webhook)
        yield* Emulator.receive(url, ({ body, headers, url }) =>
          webhook.handle({
            method: "POST",
            url,
            header: (name) => headers[name],
            body: Effect.succeed(new TextEncoder().encode(body))
          })
        )
        return bot
      })
      const bots = yield* Effect.forEach([first, second], start)
      const run = Effect.forEach(bots, (bot) => Bot.run(nameAndText, { source: bot }), { concurrency: "unbounded" })
      yield* Effect.raceFirst(conversation, run)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("share nothing that their layers have in common", () =>
    Effect.gen(function* () {
      const common = Layer.provideMerge(LongPolling.layer(), services(first))
      const one = yield* Updates.fromLayer(common)
      const two = yield* Updates.fromLayer(common)
      assert.notStrictEqual(one.inbox, two.inbox)
      assert.notStrictEqual(
        Context.get(one.services, RateLimiter.RateLimiter),
        Context.get(two.services, RateLimiter.RateLimiter)
      )
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("have services of their own: the chats of the bots are separate", () =>
    Effect.gen(function* () {
      const bots = [yield* polling(first), yield* polling(second)]
      const handler = ChatStore.track(
        Handler.on("message_created", (update) =>
          Effect.gen(function* () {
            const chats = yield* Stream.runCollect(ChatStore.stream())
            yield* Messages.reply(update, `${chats.length}`)
          })
        )
      )
      const run = Effect.forEach(bots, (bot) => Bot.run(handler, { source: bot }), { concurrency: "unbounded" })
      const talk = Effect.gen(function* () {
        const counts: Array<string | null | undefined> = []
        for (const person of yield* Effect.forEach(["Ann", "Ben"], Emulator.user)) {
          yield* person.send("hello")
          counts.push((yield* person.reply).body?.text)
        }
        const [, other] = yield* Emulator.bots
        const cleo = (yield* Emulator.user("Cleo")).with(other)
        yield* cleo.send("hello")
        counts.push((yield* cleo.reply).body?.text)
        assert.deepStrictEqual(counts, ["1", "2", "1"])
      })
      yield* Effect.raceFirst(talk, run)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("have metrics of their own, if their layers set attributes", () =>
    Effect.gen(function* () {
      const named = (bot: string, token: string) =>
        LongPolling.layer().pipe(
          Layer.provideMerge(services(token)),
          Layer.provideMerge(Layer.succeed(Metric.CurrentMetricAttributes, { bot })),
          Updates.fromLayer
        )
      const bots = [yield* named("one", first), yield* named("two", second)]
      const run = Effect.forEach(bots, (bot) => Bot.run(nameAndText, { source: bot }), { concurrency: "unbounded" })
      yield* Effect.raceFirst(conversation, run)
      for (const { inbox } of bots) yield* inbox.stats
      const snapshot = yield* Metric.snapshot
      const botsOf = (name: string) =>
        [...new Set(snapshot.flatMap(({ attributes, id }) => (id === name ? [attributes?.["bot"]] : [])))].sort()
      assert.deepStrictEqual(botsOf("colloquy_inbox_queued"), ["one", "two"])
      assert.deepStrictEqual(botsOf("colloquy_updates_handled_total"), ["one", "two"])
    }).pipe(Effect.scoped, Effect.provide(platform), Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
