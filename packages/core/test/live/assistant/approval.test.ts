import type { Inbox } from "@colloquy/core"
import { type BotApi, Command, Handler, Messages, type User } from "@colloquy/core"
import * as Assistant from "@colloquy/core/live/Assistant"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema, Stream } from "effect"
import { AiError, LanguageModel, type Prompt, type Response, Tool, Toolkit } from "effect/ai"
import * as TestClock from "effect/testing/TestClock"
import { textsOfBot } from "../../support/liveMessages.ts"
import { during, platform } from "../../support/restarts.ts"

type Part = Response.StreamPartEncoded

const finish: Part = { type: "finish", reason: "stop", usage: { inputTokens: {}, outputTokens: {} } }

const say = (text: string): ReadonlyArray<Part> => [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: text },
  { type: "text-end", id: "1" }
]

const Refund = Tool.make("Refund", {
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.String,
  needsApproval: true
})

const Look = Tool.make("Look", { parameters: Schema.Struct({ order: Schema.String }), success: Schema.String })

const Shop = Toolkit.make(Refund, Look)

const call = (order: string, name = "Refund"): Part => ({
  type: "tool-call",
  id: `${name} ${order}`,
  name,
  params: { order },
  providerExecuted: false
})

const describeMessage = ({ content, role }: Prompt.Message): string => {
  const parts = typeof content === "string" ? [content] : content.map((part) => describePart(part))
  return `${role}: ${parts.join(" | ")}`
}

const describePart = (part: Exclude<Prompt.Message["content"], string>[number]): string => {
  if (part.type === "text") return part.text
  if (part.type === "tool-call") return `${part.name}?`
  if (part.type !== "tool-result") return part.type
  return `=${typeof part.result === "string" ? part.result : (part.result as { reason: string }).reason}`
}

const noText = AiError.make({ module: "Test", method: "generateText", reason: new AiError.UnknownError({}) })

/** A bot with a model that gives these answers, one after the other. Its programs can run one after the other. */
const makeBot = (
  options: Pick<Assistant.Options<{}, never, never>, "approval" | "of" | "texts" | "budget">,
  ...answers: ReadonlyArray<ReadonlyArray<Part>>
) => {
  const prompts: Array<ReadonlyArray<string>> = []
  const refunded: Array<string> = []
  let failures = 0
  const model = Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      streamText: ({ prompt }) =>
        Stream.suspend(() => {
          const answer = answers[prompts.length] ?? say("?")
          prompts.push(prompt.content.map(describeMessage))
          return Stream.fromIterable([...answer, finish])
        }),
      generateText: () => Effect.fail(noText)
    })
  )
  const functions = Shop.toLayer({
    Refund: ({ order }) =>
      Effect.suspend(() => {
        if (failures-- > 0) return Effect.die(new Error("The bank is away"))
        refunded.push(order)
        return Effect.succeed(`refunded ${order}`)
      }),
    Look: ({ order }) => Effect.succeed(`order ${order} was sent`)
  })
  const Helper = Assistant.make("helper", { ...options, toolkit: Shop })
  const all = Handler.first(
    Command.make("forget").on((update) => Effect.andThen(Helper.history.clear, Messages.reply(update, "Forgotten"))),
    Helper.approval,
    Handler.on("message_created", (update) => Helper.reply(update))
  )
  const handler: Handler.Handler<unknown, BotApi.BotApi | Inbox.Inbox> = Handler.transform(
    all,
    Effect.provide(Layer.merge(model, functions))
  )
  const failNext = (count: number) => void (failures = count)
  return { handler, prompts, refunded, failNext }
}

const question = 'May I do this?\n\nRefund {"order":"1"}'

const start = Effect.gen(function* () {
  const ann = yield* Emulator.user("Ann")
  const dialog = yield* ann.start()
  return { ann, dialog }
})

/** The message that has buttons. */
const questionIn = (chat: Parameters<typeof Emulator.messages>[0]) =>
  Effect.map(Emulator.messages(chat), (messages) => {
    const found = messages.find(({ body }) => body?.attachments?.some(({ type }) => type === "inline_keyboard"))
    assert.isDefined(found)
    return found!
  })

describe("the approval of a function", () => {
  it.effect("is asked by a question with two buttons, and the function runs when a person approves", () => {
    const { handler, prompts, refunded } = makeBot({}, [...say("Let me see."), call("1")], say("Done."), say("Bye."))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund order 1"))
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Let me see.", question])
      assert.deepStrictEqual(refunded, [])
      // The program is another one now.
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Approve"))
      )
      assert.deepStrictEqual(refunded, ["1"])
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Let me see.", `${question}\n✓ Approve`, "Done."])
      yield* during(handler, ann.send("Thanks"))
      const before = ["user: Refund order 1", "assistant: Let me see. | Refund?", "tool: =refunded 1"]
      assert.deepStrictEqual(prompts[1], before)
      assert.deepStrictEqual(prompts[2], [...before, "assistant: Done.", "user: Thanks"])
    }).pipe(Effect.provide(platform))
  })

  it.effect("tells the model that a person has declined", () => {
    const { handler, prompts, refunded } = makeBot({}, [call("1")], say("As you like."))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund order 1"))
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Decline"))
      )
      assert.deepStrictEqual(refunded, [])
      assert.deepStrictEqual(prompts[1], [
        "user: Refund order 1",
        "assistant: Refund?",
        "tool: =The user has declined this call."
      ])
      assert.strictEqual((yield* textsOfBot(dialog)).at(-1), "As you like.")
    }).pipe(Effect.provide(platform))
  })

  it.effect("ends with a refusal after its timeout, in a later program, and the buttons are removed", () => {
    const { handler, prompts, refunded } = makeBot({ approval: { timeout: "1 hour" } }, [call("1")], say("No answer."))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund order 1"))
      const message = yield* questionIn(dialog)
      yield* TestClock.adjust("2 hours")
      yield* during(handler, TestClock.adjust("10 seconds"))
      assert.strictEqual(prompts[1]?.at(-1), "tool: =Nobody has decided about this call in time.")
      assert.deepStrictEqual(yield* textsOfBot(dialog), [question, "No answer."])
      assert.strictEqual((yield* Effect.flip(ann.press(message, "Approve")))._tag, "PersonError")
      assert.deepStrictEqual(refunded, [])
    }).pipe(Effect.provide(platform))
  })

  it.effect("is refused if a press comes after the timeout, while no program runs", () => {
    const { handler, prompts, refunded } = makeBot({ approval: { timeout: "1 hour" } }, [call("1")], say("No answer."))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund order 1"))
      // No program runs at the timeout. The press arrives later.
      yield* TestClock.adjust("2 hours")
      yield* Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Approve"))
      yield* during(handler, Effect.void)
      assert.deepStrictEqual(refunded, [])
      assert.deepStrictEqual(
        prompts.map((prompt) => prompt.at(-1)),
        ["user: Refund order 1", "tool: =Nobody has decided about this call in time."]
      )
      assert.strictEqual(yield* ann.notification, "This question is closed.")
    }).pipe(Effect.provide(platform))
  })

  it.effect("is given once if two people press at once, in the history of a chat", () => {
    const { handler, prompts, refunded } = makeBot({ of: "chat" }, [call("1")], say("Done."))
    return Effect.gen(function* () {
      const { ann, bob, group } = yield* people
      yield* during(handler, ann.send(group, "Refund order 1"))
      const message = yield* questionIn(group)
      // No program runs, so both updates wait.
      yield* ann.press(message, "Approve")
      yield* bob.press(message, "Decline")
      yield* during(handler, Effect.void)
      assert.deepStrictEqual(refunded, ["1"])
      assert.strictEqual(yield* bob.notification, "This question is closed.")
      assert.lengthOf(prompts, 2)
      assert.strictEqual((yield* textsOfBot(group)).at(-1), "Done.")
    }).pipe(Effect.provide(platform))
  })

  it.effect("is given only by the users of `from`", () =>
    Effect.gen(function* () {
      const { ann, bob, group } = yield* people
      const from: User.UserId = bob.user_id
      const { handler, refunded } = makeBot({ of: "chat", approval: { from } }, [call("1")], say("Done."))
      yield* during(handler, ann.send(group, "Refund order 1"))
      const message = yield* questionIn(group)
      yield* during(handler, ann.press(message, "Approve"))
      assert.strictEqual(yield* ann.notification, "This question is for somebody else.")
      assert.deepStrictEqual(refunded, [])
      yield* during(handler, bob.press(message, "Approve"))
      assert.deepStrictEqual(refunded, ["1"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("is refused by the next message of the user, which the model answers", () => {
    const { handler, prompts, refunded } = makeBot({}, [call("1")], say("All right."), say("Late"))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund order 1"))
      const message = yield* questionIn(dialog)
      yield* during(handler, ann.send("Wait, order 2"))
      assert.deepStrictEqual(prompts[1], [
        "user: Refund order 1",
        "assistant: Refund?",
        "tool: =The user has not decided about this call, and has written another message.",
        "user: Wait, order 2"
      ])
      assert.deepStrictEqual(yield* textsOfBot(dialog), [question, "All right."])
      assert.strictEqual((yield* Effect.flip(ann.press(message, "Approve")))._tag, "PersonError")
      assert.deepStrictEqual(refunded, [])
    }).pipe(Effect.provide(platform))
  })

  it.effect("does nothing if the history was cleared meanwhile, and says so", () => {
    const { handler, prompts, refunded } = makeBot({}, [call("1")])
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund order 1"))
      yield* during(handler, ann.send("/forget"))
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Approve"))
      )
      assert.deepStrictEqual(refunded, [])
      assert.lengthOf(prompts, 1)
      assert.strictEqual((yield* textsOfBot(dialog)).at(-1), "This question is closed.")
    }).pipe(Effect.provide(platform))
  })

  it.effect("is asked for each of several calls, and other functions run at once", () => {
    const { handler, prompts, refunded } = makeBot({}, [call("7", "Look"), call("1"), call("2")], say("Half done."))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund 1 and 2"))
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Approve"))
      )
      assert.deepStrictEqual(refunded, [])
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Decline"))
      )
      assert.deepStrictEqual(refunded, ["1"])
      assert.deepStrictEqual(prompts[1]?.slice(1), [
        "assistant: Look? | Refund? | Refund?",
        "tool: =order 7 was sent",
        "tool: =refunded 1 | =The user has declined this call."
      ])
    }).pipe(Effect.provide(platform))
  })

  it.effect("is asked again if the model calls such a function after a decision", () => {
    const { handler, refunded } = makeBot({}, [call("1")], [call("2")], say("Both."))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund 1, then 2"))
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Approve"))
      )
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Approve"))
      )
      assert.deepStrictEqual(refunded, ["1", "2"])
      assert.strictEqual((yield* textsOfBot(dialog)).at(-1), "Both.")
    }).pipe(Effect.provide(platform))
  })

  it.effect("stays given if the handler fails after the press, and the function runs once", () => {
    const broken: Part = { type: "error", error: new Error("overloaded") }
    const { handler, prompts, refunded } = makeBot({}, [call("1")], [...say("It was"), broken], say(" was done."))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund order 1"))
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Approve"))
      )
      assert.deepStrictEqual(refunded, ["1"])
      assert.lengthOf(prompts, 3)
      assert.strictEqual((yield* textsOfBot(dialog)).at(-1), "It was done.")
    }).pipe(Effect.provide(platform))
  })

  it.effect("is not lost if the exchange is longer than the budget", () => {
    const { handler, refunded } = makeBot({ budget: 1 }, [call("1")], say("Done."))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund order 1"))
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Approve"))
      )
      assert.deepStrictEqual(refunded, ["1"])
    }).pipe(Effect.provide(platform))
  })

  it.effect("has the texts of the assistant", () => {
    const texts = { approval: ({ name }: Assistant.Call) => `${name}: darf ich?`, approve: "Ja", decline: "Nein" }
    const { handler, refunded } = makeBot({ texts }, [call("1")], say("Done."))
    return Effect.gen(function* () {
      const { ann, dialog } = yield* start
      yield* during(handler, ann.send("Refund order 1"))
      yield* during(
        handler,
        Effect.flatMap(questionIn(dialog), (message) => ann.press(message, "Ja"))
      )
      assert.deepStrictEqual(yield* textsOfBot(dialog), ["Refund: darf ich?\n✓ Ja", "Done."])
      assert.deepStrictEqual(refunded, ["1"])
    }).pipe(Effect.provide(platform))
  })
})

const people = Effect.gen(function* () {
  const ann = yield* Emulator.user("Ann")
  const bob = yield* Emulator.user("Bob")
  const group = yield* Emulator.chat({ type: "chat", owner: ann, members: [bob] })
  return { ann, bob, group }
})
