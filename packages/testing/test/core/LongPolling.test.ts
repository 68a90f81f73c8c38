import { LongPolling, Messages, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

describe("LongPolling.layer with the emulator", () => {
  it.effect("delivers messages to a bot that answers them", () =>
    Effect.gen(function* () {
      const echo = Updates.stream.pipe(
        Stream.filter((update) => update.update_type === "message_created"),
        Stream.runForEach(({ message }) =>
          Messages.send({ chat_id: message!.recipient.chat_id!, text: `${message!.body!.text}!` })
        )
      )
      yield* Effect.forkChild(echo)
      const visitor = yield* Emulator.user("visitor")
      const events = yield* Effect.forkChild(Stream.runCollect(Stream.take(visitor.events, 2)))
      for (const text of ["hi", "ho"]) {
        yield* visitor.send(text)
        assert.strictEqual((yield* visitor.reply).body?.text, `${text}!`)
      }
      assert.deepStrictEqual(
        (yield* Fiber.join(events)).map((event) => event._tag === "Message" && event.message.body?.text),
        ["hi!", "ho!"]
      )
    }).pipe(Effect.provide(LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))))
  )

  it.effect("decodes an update of an unknown type without loss of digits", () =>
    Effect.gen(function* () {
      const raw = { update_type: "planet_aligned", timestamp: 5, seq: 116328127605864690n }
      yield* Emulator.deliver(raw)
      const { updates } = yield* Updates.list({ types: ["planet_aligned"] })
      assert.deepStrictEqual(updates, [Result.succeed({ update_type: "unknown" as const, raw })])
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})
