import { ChatStore, LongPolling } from "@colloquy/core"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { readdirSync, readFileSync } from "node:fs"
import * as broadcastFromTimer from "../src/recipes/broadcastFromTimer.ts"
import * as callServices from "../src/recipes/callServices.ts"
import * as copyMessages from "../src/recipes/copyMessages.ts"
import * as firstMessage from "../src/recipes/firstMessage.ts"
import * as longTexts from "../src/recipes/longTexts.ts"

// The clock is the TestClock.
const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const withSettings = (settings: Readonly<Record<string, string>>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(settings))

const seconds = (count: number) => Effect.repeat(TestClock.adjust("1 second"), { times: count - 1 })

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

describe("docs/recipes.md", () => {
  it("has each program unchanged, and a program has at most 40 lines", () => {
    const names = readdirSync(new URL("../src/recipes", import.meta.url)).sort()
    const onPage = [...read("../../docs/recipes.md").matchAll(/recipes\/(\w+\.ts)\)[^`]*```ts\n([\s\S]*?)```/g)]
    assert.deepStrictEqual(onPage.map(([, name]) => name).sort(), names)
    for (const [, name, code] of onPage) {
      assert.strictEqual(code, read(`../src/recipes/${name}`), name)
      assert.isAtMost(code.split("\n").length, 41, name)
    }
  })
})

describe("the recipes", () => {
  it.effect("broadcastFromTimer sends the news once to each dialog, in several runs", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(broadcastFromTimer.bot)
      const people = yield* Effect.forEach(Array.from({ length: 60 }), (_, at) => Emulator.user(`Person ${at}`))
      yield* Effect.forEach(people, (person) => person.start())
      yield* people[0].send("/news We are open")
      assert.strictEqual((yield* people[0].reply).body?.text, "I will send the news in 8 hours.")
      yield* seconds(5)
      // With 16 concurrent requests, 40 seconds are enough for 48 people.
      yield* Emulator.setFaults([{ endpoint: "Messages.send", delay: 15_000 }])
      yield* TestClock.adjust("8 hours")
      yield* seconds(120)
      for (const person of people) {
        const texts = (yield* person.unread).map((event) => event._tag === "Message" && event.message.body?.text)
        assert.deepStrictEqual(texts, ["We are open"])
      }
    }).pipe(Effect.provide(Layer.mergeAll(platform, ChatStore.layerMemory, BroadcastStore.layerMemory)))
  )

  it.effect("copyMessages copies texts and files to the team, and nothing from the team", () =>
    Effect.gen(function* () {
      const olga = yield* Emulator.user("Olga")
      const ann = yield* Emulator.user("Ann")
      const team = yield* Emulator.chat({ owner: olga, bot: { admin: true } })
      yield* Effect.forkScoped(withSettings({ TEAM_CHAT: String(team.chat_id) })(copyMessages.bot))
      yield* ann.send("Is it **open**?", { format: "markdown", attachments: [{ type: "image" }] })
      const { body } = yield* olga.reply
      assert.deepInclude(body, { text: "Is it open?", markup: [{ type: "strong", from: 6, length: 4 }] })
      assert.deepStrictEqual(
        body?.attachments?.map(({ type }) => type),
        ["image"]
      )
      yield* ann.send("", { attachments: [{ type: "share", payload: {} }] })
      assert.strictEqual((yield* ann.reply).body?.text, "I cannot copy this message.")
      yield* olga.send(team, "Yes")
      yield* seconds(5)
      assert.deepStrictEqual(yield* olga.unread, [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("callServices places an order once, with one key in all attempts", () =>
    Effect.gen(function* () {
      const keys: Array<string | undefined> = []
      const shop = HttpClient.make((request) =>
        Effect.sync(() => {
          keys.push(request.headers["idempotency-key"])
          // The first attempt of the handler ends after four requests.
          const isUp = keys.length > 5
          return HttpClientResponse.fromWeb(request, Response.json({ number: 7 }, { status: isUp ? 200 : 503 }))
        })
      )
      yield* callServices.bot.pipe(
        Effect.provideService(HttpClient.HttpClient, shop),
        withSettings({ SHOP_URL: "https://shop.example" }),
        Effect.forkScoped
      )
      const ann = yield* Emulator.user("Ann")
      yield* Emulator.setFaults([{ endpoint: "Messages.send", status: 500, times: 1 }])
      yield* ann.send("/order tea")
      yield* seconds(30)
      assert.strictEqual((yield* ann.reply).body?.text, "Your order has the number 7.")
      assert.lengthOf(keys, 6)
      assert.lengthOf(new Set(keys), 1)
      assert.isString(keys[0])
    }).pipe(Effect.provide(platform))
  )

  it.effect("longTexts sends a text in parts, with its formatting", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(longTexts.bot)
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("/rules")
      yield* seconds(20)
      const sent = (yield* ann.unread).flatMap((event) => (event._tag === "Message" ? [event.message.body!] : []))
      assert.isAbove(sent.length, 3)
      const text = sent.map(({ text }) => text).join("\n\n")
      assert.lengthOf(text.match(/^Rule \d+$/gm) ?? [], 300)
      assert.strictEqual(sent.flatMap(({ markup }) => markup ?? []).length, 300)
    }).pipe(Effect.provide(platform))
  )

  it.effect("firstMessage answers the message that opens a dialog, and welcomes only who sends none", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(firstMessage.bot)
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("When do you open?")
      assert.strictEqual((yield* ann.reply).body?.text, "You asked: When do you open?")
      const ben = yield* Emulator.user("Ben")
      yield* ben.start()
      yield* seconds(10)
      assert.strictEqual((yield* ben.reply).body?.text, "Hello, Ben! Ask me anything.")
      assert.deepStrictEqual(yield* ann.unread, [])
    }).pipe(Effect.provide(platform))
  )
})
