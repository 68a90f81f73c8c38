import { type Chat, RateLimiter } from "@colloquy/core"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { Emulator, EmulatorOptions } from "@colloquy/testing"

export const bot = Emulator.layerBot({ limits: EmulatorOptions.platformLimits, clientLimits: RateLimiter.defaults })

export const platform = Layer.merge(bot, BroadcastStore.layerMemory)

/** Creates dialogs with different users. */
export const dialogs = (count: number) =>
  Effect.forEach(Array.from({ length: count }), (_, index) =>
    Effect.gen(function* () {
      const person = yield* Emulator.user(`Ann ${index}`)
      yield* person.start()
      return (yield* person.dialog).chat_id
    })
  )

/** Runs a program while the test clock advances. */
export const inTime = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(program, Effect.forever(TestClock.adjust("100 millis")))

export const textsIn = (chat_id: Chat.ChatId) =>
  Effect.map(Emulator.messages(chat_id), (messages) => messages.map(({ body }) => body?.text))

export const sent = Effect.map(
  Emulator.requests,
  (requests) => requests.filter(({ method }) => method === "POST").length
)
