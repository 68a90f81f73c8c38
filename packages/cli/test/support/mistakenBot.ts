/** A bot with a mistake, which is mended if the variable `IS_MENDED` is set, and a place in which it has made the mistake. */
import { Bot, Inbox, LongPolling } from "@colloquy/core"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import { layerOf } from "../../../node/test/support/inboxLayers.ts"
import { mistakes } from "./mistakes.ts"

export const bot = mistakes[0]!.bot(process.env["IS_MENDED"] !== undefined)

/** Runs a bot with an inbox in a file while a person sends texts. */
export const runBot = (place: string, bot: (typeof mistakes)[number]["bot"], texts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* Emulator.intercept((request, next) =>
      Effect.flatMap(
        Effect.orElseSucceed(request.body.text, () => ""),
        (text) =>
          text.includes("refused")
            ? Effect.succeed(EmulatorHttp.respond(403, { code: "chat.denied", message: "No" }))
            : next
      )
    )
    const person = yield* Emulator.user({ first_name: "Anastasia", username: "anastasia_p" })
    yield* person.start()
    const fiber = yield* Effect.forkChild(Bot.run(bot(false), { retry: Schedule.recurs(0) }), {
      startImmediately: true
    })
    for (const text of texts) {
      yield* person.send(text)
      yield* TestClock.adjust("2 minutes")
    }
    yield* TestClock.adjust("2 minutes")
    yield* Fiber.interrupt(fiber)
    return person.user
  }).pipe(
    Effect.scoped,
    Effect.provide(
      LongPolling.layer().pipe(
        Layer.provideMerge(Layer.provide(Inbox.layer(), layerOf("SQLite", place))),
        Layer.provideMerge(Emulator.layerBot({ limits: false }))
      )
    )
  )
