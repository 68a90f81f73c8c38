import { Handler } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Journal from "@colloquy/core/inbox/Journal"
import * as Assistant from "@colloquy/core/live/Assistant"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Schema, Stream } from "effect"
import { AiError, LanguageModel, type Response, Tool, Toolkit } from "effect/ai"
import * as TestClock from "effect/testing/TestClock"
import { platform } from "../../support/mortal.ts"
import { startBot } from "../../support/mortalStore.ts"

type Part = Response.StreamPartEncoded

const finish: Part = { type: "finish", reason: "stop", usage: { inputTokens: {}, outputTokens: {} } }

const call: Part = { type: "tool-call", id: "c", name: "Refund", params: {}, providerExecuted: false }

const done: ReadonlyArray<Part> = [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "It was done." },
  { type: "text-end", id: "1" }
]

const noText = AiError.make({ module: "Test", method: "generateText", reason: new AiError.UnknownError({}) })

/** A model that calls a function, and says so when it gets the result. */
const model = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    streamText: ({ prompt }) => {
      const isAnswered = prompt.content.at(-1)?.role !== "user"
      return Stream.fromIterable([...(isAnswered ? done : [call]), finish])
    },
    generateText: () => Effect.fail(noText)
  })
)

const Refund = Tool.make("Refund", { success: Schema.Int, needsApproval: true })

const Shop = Toolkit.make(Refund)

/** Plays a bot whose process is killed at a point. Returns what the bot said, and whether the process was killed. */
const play = Effect.fnUntraced(function* (killAt: number) {
  let refunds = 0
  const refund = Journal.step(
    "refund",
    Schema.Int,
    Effect.sync(() => ++refunds)
  )
  const functions = Shop.toLayer({ Refund: () => Effect.orDie(refund) })
  const Helper = Assistant.make("helper", { toolkit: Shop })
  const bot = Handler.transform(
    Handler.first(
      Helper.approval,
      Handler.on("message_created", (update) => Helper.reply(update))
    ),
    Effect.provide(Layer.merge(model, functions))
  )
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
  yield* ann.send(group, "Refund my order")
  yield* until(1)
  yield* ann.press((yield* said).at(-1)!, "Approve")
  yield* until(2)
  yield* process.kill
  yield* TestClock.adjust("1 minute")
  const left = yield* store.rows({ prefix: "state/conversation%2F", by: "key", limit: 10 })
  return { texts: (yield* said).map(({ body }) => body?.text), left: left.length, refunds, isKilled }
})

describe("approvals whose process is killed", () => {
  it.effect("lose no call and double no message, at whatever point it is killed, where the bot may read", () =>
    Effect.gen(function* () {
      let killAt = 0
      for (; ; killAt++) {
        const { isKilled, left, refunds, texts } = yield* play(killAt)
        assert.deepStrictEqual(texts, ["May I do this?\n\nRefund {}\n✓ Approve", "It was done."], `point ${killAt}`)
        assert.strictEqual(left, 0, `point ${killAt}`)
        assert.isAtMost(refunds, 2, `point ${killAt}`)
        if (!isKilled) break
      }
      assert.isAbove(killAt, 30)
    }).pipe(Effect.provide(Layer.merge(platform, Logger.layer([]))))
  )
})
