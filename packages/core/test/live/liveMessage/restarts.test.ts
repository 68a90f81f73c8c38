import { Handler, LiveMessage, RateLimiter, Update } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { ofBot, textsOfBot, ticking, words } from "../../support/liveMessages.ts"
import { during, platform, token } from "../../support/restarts.ts"

/** The platform carries out the first messages of the bot, and their responses are lost. */
const losesResponses = (count: number, after: Duration.Input = 0) => {
  let left = count
  return Emulator.intercept((request, next) =>
    request.method === "POST" && request.path === "/messages" && left-- > 0
      ? next.pipe(Effect.andThen(Effect.sleep(after)), Effect.andThen(EmulatorHttp.connectionReset))
      : next
  )
}

/** A permit expires while this store writes the journal. */
const slowStore = Layer.effect(
  InboxStore.InboxStore,
  Effect.map(InboxStore.makeMemory, (store) =>
    InboxStore.InboxStore.of({
      ...store,
      write: (writes) => Effect.delay(store.write(writes), "2 seconds")
    })
  )
)

const slowPlatform = Layer.merge(Emulator.layer({ token }), slowStore)

describe("a dashboard", () => {
  const Board = LiveMessage.dashboard("sales")
  const bot = Handler.on("message_created", (update) => {
    const chat_id = Update.chatOf(update)
    return chat_id === undefined ? undefined : Board.show(chat_id, `${Update.textOf(update)} sold`)
  })

  it.effect("is one message that programs edit which run one after the other for days", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      for (let day = 1; day <= 5; day++) {
        yield* during(bot, ann.send(`${day}`))
        assert.deepStrictEqual(yield* textsOfBot(dialog), [`${day} sold`])
        yield* TestClock.adjust("1 day")
      }
    }).pipe(Effect.provide(platform))
  )

  it.effect("is sent again when the platform rejects an edit, and the old message is removed", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      yield* during(bot, ann.send("1"))
      const [before] = yield* ofBot(dialog)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Emulator.intercept((request, next) =>
            request.method === "PUT"
              ? Effect.succeed(EmulatorHttp.respond(200, '{"success":false,"message":"too old"}'))
              : next
          )
          yield* during(bot, ann.send("2"))
        })
      )
      yield* during(bot, ann.send("3"))
      const all = yield* ofBot(dialog)
      assert.deepStrictEqual(
        all.map(({ body }) => body?.text),
        ["3 sold"]
      )
      assert.notStrictEqual(all[0]?.body?.mid, before?.body?.mid)
    }).pipe(Effect.provide(platform))
  )

  it.effect("shows the newest content if the response to its message was lost", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      yield* losesResponses(1)
      let count = 0
      const counting = Handler.on("message_created", () => Board.show(dialog.chat_id, `${++count} sold`))
      yield* during(counting, ann.send("refresh"))
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["2 sold"])
    }).pipe(Effect.scoped, Effect.provide(platform))
  )
})

/** A store in which nothing can be watched while it is handled. */
const defectiveStore = Layer.effect(
  InboxStore.InboxStore,
  Effect.map(InboxStore.makeMemory, (store) =>
    InboxStore.InboxStore.of({
      ...store,
      updates: (page) => (page.of === "queue" ? Effect.die(new Error("a defect of the store")) : store.updates(page))
    })
  )
)

describe("an answer", () => {
  const tokens = words(30)

  it.effect("fails with the defect of a fiber beside the body", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* ann.start()
      const bot = Handler.on("message_created", (update) => LiveMessage.reply(update, ticking(tokens, 100)))
      yield* during(bot, ann.send("tell"))
      const { updates } = yield* InboxStore.InboxStore
      const [deadLetter] = yield* updates({ of: "deadLetters", limit: 1 })
      assert.include(deadLetter?.failure?.error ?? "", "a defect of the store")
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Emulator.layer({ token }), defectiveStore)))
  )

  it.effect("has all of its text if the response to its first message is lost after the stream has ended", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      yield* losesResponses(1, "10 seconds")
      const bot = Handler.on("message_created", (update) => LiveMessage.reply(update, ticking(tokens, 100)))
      yield* during(bot, ann.send("tell"))
      assert.deepStrictEqual(yield* textsOfBot(dialog), [tokens.join("")])
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("is one message if its first permit expires while the journal is written, and the response is lost", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      yield* losesResponses(1)
      const bot = Handler.on("message_created", (update) => LiveMessage.reply(update, ticking(tokens, 100)))
      yield* during(bot, ann.send("tell"), RateLimiter.defaults)
      assert.deepStrictEqual(yield* textsOfBot(dialog), [tokens.join("")])
    }).pipe(Effect.scoped, Effect.provide(slowPlatform))
  )
})

describe("progress", () => {
  it.effect("goes on in its message when the handler is tried again", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const bot = Handler.on("message_created", (update) =>
        LiveMessage.progress(update, { atEnd: { notice: "Done" } }, (report) =>
          Effect.gen(function* () {
            const isFirst = (yield* Handler.CurrentAttempt) === 1
            for (let done = isFirst ? 0 : 5; done < 10; done++) {
              yield* report({ done })
              yield* Effect.sleep("1 second")
              if (isFirst && done === 5) return yield* Effect.fail("the disk is full")
            }
          })
        )
      )
      yield* during(bot, ann.send("Copy"))
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["9\n\nDone"])
    }).pipe(Effect.provide(platform))
  )
})
