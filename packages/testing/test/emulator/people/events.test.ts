import { Messages, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { afterEach, beforeEach, vi } from "vitest"

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))

afterEach(() => void vi.useRealTimers())

/** Runs a test with a list of its log lines. */
const withLog = <A, E, R>(body: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel}: ${String(message)}`))
  return Effect.provide(body(lines), Layer.merge(Emulator.layerBot(), Logger.layer([logger])))
}

/** Advances the real time. */
const pass = (milliseconds: number) => Effect.promise(() => vi.advanceTimersByTimeAsync(milliseconds))

const waitFor = <A>(event: Effect.Effect<A>) => Effect.forkChild(event, { startImmediately: true })

describe("a person who waits for an event", () => {
  it.effect(
    "logs once if the event does not arrive, with the last calls of the bot and the last events of the person",
    () =>
      withLog((lines) =>
        Effect.gen(function* () {
          const ann = yield* Emulator.user("Ann")
          const ben = yield* Emulator.user("Ben")
          const { chat_id } = yield* ann.start()
          const other = yield* ben.start()
          yield* waitFor(ann.notification)
          yield* pass(2000)
          yield* Messages.send({ chat_id, text: "Welcome" })
          yield* Messages.send({ chat_id: other.chat_id, text: "Not for Ann" })
          yield* Emulator.setFaults([{ endpoint: "Messages.send", status: 403, message: "No" }])
          yield* Effect.flip(Messages.send({ chat_id, text: "?" }))
          yield* pass(999)
          assert.deepStrictEqual(lines, [])
          yield* pass(1)
          const calls = [
            `POST /messages?chat_id=${chat_id} 200`,
            `POST /messages?chat_id=${other.chat_id} 200`,
            `POST /messages?chat_id=${chat_id} 403 {"code":"access.denied","message":"No"}`
          ]
          const expected = [
            "Warn: Ann has waited for `notification` for 3 s.",
            `The last calls of the bot: ${calls.join(", ")}.`,
            'The last events that Ann saw: Message "Welcome".'
          ]
          assert.deepStrictEqual(lines, [expected.join(" ")])
          yield* pass(60_000)
          assert.strictEqual(lines.length, 1)
        })
      )
  )

  it.effect("logs that there were no calls and events, and ignores the polls of the bot", () =>
    withLog((lines) =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        yield* waitFor(ann.reply)
        yield* Effect.replicateEffect(Updates.list({ timeout: 0 }), 2)
        yield* pass(3000)
        assert.deepStrictEqual(lines, [
          "Warn: Ann has waited for `reply` for 3 s. The last calls of the bot: nothing. The last events that Ann saw: nothing."
        ])
      })
    )
  )

  it.effect("logs the last lines of the console of the test", () =>
    withLog((lines) =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        for (let line = 1; line <= 6; line++) yield* Console.log(`line ${line}`)
        yield* waitFor(ann.reply)
        yield* pass(3000)
        assert.match(lines[0]!, /The last lines of the log:\nline 2\nline 3\nline 4\nline 5\nline 6$/)
      })
    )
  )

  it.effect("logs nothing if the event arrives, exists before, or the wait is interrupted", () =>
    withLog((lines) =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const { chat_id } = yield* ann.start()
        const waiting = yield* waitFor(ann.reply)
        assert.strictEqual(vi.getTimerCount(), 1)
        yield* Messages.send({ chat_id, text: "one" })
        yield* Fiber.join(waiting)
        assert.strictEqual(vi.getTimerCount(), 0)
        yield* Messages.send({ chat_id, text: "two" })
        assert.strictEqual((yield* ann.reply).body?.text, "two")
        yield* Fiber.interrupt(yield* waitFor(ann.reply))
        assert.strictEqual(vi.getTimerCount(), 0)
        yield* pass(10_000)
        assert.deepStrictEqual(lines, [])
      })
    )
  )
})
