import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Command, Conversation, Handler } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { platform } from "../../support/mortal.ts"
import { startBot } from "../../support/mortalStore.ts"

const makeBot = (step: Effect.Effect<number>) => {
  const Form = Conversation.make(
    "form",
    { of: "userInChat", timeout: "1 day" },
    Effect.fn(function* (talk) {
      yield* talk.say("Hello")
      const name = yield* talk.ask("name", { say: "Name?" })
      yield* talk.step("step", Schema.Int, step)
      yield* talk.say(`Dear ${name}`)
      const color = yield* talk.choose("color", { say: "Color?", choices: { r: "Red", b: "Blue" } })
      yield* talk.say(color)
    })
  )
  return Handler.first(Command.make("go").on(Form.start), Form)
}

/** Plays a conversation whose process is killed at a point. Returns what the bot said, and whether it was killed. */
const play = Effect.fnUntraced(function* (killAt: number) {
  let steps = 0
  const bot = makeBot(Effect.sync(() => ++steps))
  const store = yield* InboxStore.makeMemory
  const ann = yield* Emulator.user("Ann")
  // An administrator can look up what the bot has sent.
  const group = yield* Emulator.chat({ members: [ann], bot: { admin: true } })
  const said = Effect.map(Emulator.messages(group), (all) => all.filter(({ sender }) => sender?.is_bot === true))
  const process = yield* startBot(store, bot, killAt)
  let isKilled = false
  const until = Effect.fnUntraced(function* (count: number) {
    for (let seconds = 0; ; seconds++) {
      assert.isBelow(seconds, 300, `after the kill at ${killAt}, nothing happens`)
      yield* TestClock.adjust("1 second")
      if (yield* process.restart) isKilled = true
      if ((yield* said).length >= count && (yield* store.stats).queued === 0) return
    }
  })
  yield* until(0)
  yield* ann.send(group, "/go")
  yield* until(2)
  yield* ann.send(group, "Ann")
  yield* until(4)
  yield* ann.press((yield* said).at(-1)!, "Blue")
  yield* until(5)
  yield* process.kill
  yield* TestClock.adjust("1 minute")
  const rows = yield* store.rows({ prefix: "state/conversation%2Fform/", by: "key", limit: 10 })
  const timer = yield* store.untilNext
  return { texts: (yield* said).map(({ body }) => body?.text), left: [rows.length, timer], steps, isKilled }
})

describe("conversations whose process is killed", () => {
  it.effect("lose no answer and double no message, at whatever point it is killed, where the bot may read", () =>
    Effect.gen(function* () {
      let killAt = 0
      for (; ; killAt++) {
        const { isKilled, left, steps, texts } = yield* play(killAt)
        assert.deepStrictEqual(texts, ["Hello", "Name?", "Dear Ann", "Color?\n✓ Blue", "b"], `point ${killAt}`)
        assert.deepStrictEqual(left, [0, undefined], `point ${killAt}`)
        assert.isBelow(steps, 3, `point ${killAt}`)
        if (!isKilled) break
      }
      assert.isAbove(killAt, 40)
    }).pipe(Effect.provide(Layer.merge(platform, Logger.layer([]))))
  )
})
