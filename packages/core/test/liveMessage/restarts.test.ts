import { Handler, LiveMessage, Update } from "@colloquy/core"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { ofBot, textsOfBot } from "../support/liveMessages.ts"
import { during, platform } from "../support/restarts.ts"

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
