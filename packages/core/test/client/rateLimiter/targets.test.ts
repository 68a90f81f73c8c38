import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { Answers, type BotApi, Comments, Message, Messages, RateLimiter, RetryPolicy } from "../../../src/index.ts"
import { ChatId } from "../../../src/model/Recipient.ts"
import { UserId } from "../../../src/model/User.ts"
import { message } from "../../support/fixtures.ts"
import { lost, ok, scripted, type Step } from "../../support/scripted.ts"

const chat_id = ChatId.make(4242)
const user_id = UserId.make(5)
const inChat = Message.MessageId.make("mid.0000000000001092019d4a3f7c400001")
const inGroup = Message.MessageId.make("mid.ffffc055dadd9fff019d48b64b123456")

const targetOf = {
  edit: (message_id: string) =>
    Messages.edit.declaration.limit({ message_id: Message.MessageId.make(message_id), text: "a" }),
  comment: (message_id: string) =>
    Comments.send.declaration.limit({ message_id: Message.MessageId.make(message_id), text: "a" })
}

describe("The target of a request", () => {
  it("is the chat that the id of the message contains", () => {
    assert.deepStrictEqual(targetOf.edit(inChat), { scope: "edits", key: 4242 })
    assert.deepStrictEqual(targetOf.edit(inGroup), { scope: "edits", key: -70000000000001 })
    assert.deepStrictEqual(targetOf.comment(inGroup), { scope: "messages", key: -70000000000001 })
  })

  it("is the post for a comment, and none for an edit, if the id of the message contains no chat", () => {
    assert.isUndefined(targetOf.edit("mid.1"))
    assert.deepStrictEqual(targetOf.comment("mid.1"), { scope: "messages", key: "mid.1" })
  })

  it("has the priority of answers for an answer to a callback", () => {
    assert.deepStrictEqual(Answers.send.declaration.limit({ callback_id: "a" }), {
      scope: "answers",
      priority: "answer"
    })
  })
})

/** Returns how many of the calls were sent without waiting. */
const sentAtOnce = (calls: ReadonlyArray<Effect.Effect<unknown, unknown, BotApi.BotApi>>) =>
  Effect.gen(function* () {
    const sent = message({ recipient: { chat_id, chat_type: "dialog", user_id } })
    const reply: Step = ({ method, url }) =>
      ok(method === "POST" && url.includes("/messages") ? { message: sent } : { success: true })
    const { journal, layer } = scripted(...calls.map(() => reply))
    const fiber = yield* Effect.forEach(calls, (call) => call, { discard: true }).pipe(
      Effect.provide(layer()),
      Effect.forkChild({ startImmediately: true })
    )
    const count = journal.length
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(fiber)
    return count
  })

describe("The limit of a chat", () => {
  it.effect("counts messages to the chat, messages to the user, and edits together", () =>
    Effect.gen(function* () {
      const calls = [
        Messages.send({ user_id, text: "a" }),
        Messages.edit({ message_id: inChat, text: "b" }),
        Messages.send({ chat_id, text: "c" })
      ]
      assert.strictEqual(yield* sentAtOnce(calls), 2)
    })
  )

  it.effect("counts answers in the chat whose update is handled", () =>
    Effect.gen(function* () {
      const answer = Answers.send({ callback_id: "a", notification: "b" })
      const here = RateLimiter.withChat(answer, chat_id)
      const there = RateLimiter.withChat(answer, ChatId.make(1))
      assert.strictEqual(yield* sentAtOnce([here, here, there, here]), 3)
    })
  )

  it.effect("counts an answer to an update in the chat of the update", () =>
    Effect.gen(function* () {
      const answerIn = (chat_id: ChatId) =>
        Answers.answer(
          {
            update_type: "message_callback",
            timestamp: 1,
            callback: {
              timestamp: 1,
              callback_id: "a",
              user: { user_id: UserId.make(1), first_name: "Ann", is_bot: false }
            },
            message: { timestamp: 1, recipient: { chat_id, chat_type: "chat" }, body: null }
          },
          "b"
        )
      const [here, there] = [answerIn(chat_id), answerIn(ChatId.make(1))]
      assert.strictEqual(yield* sentAtOnce([here, here, there, there, here, there]), 4)
      assert.strictEqual(
        yield* sentAtOnce([here, here, here].map((answer) => RateLimiter.withChat(answer, ChatId.make(2)))),
        2
      )
    })
  )

  it.effect("counts all answers whose chat is unknown together", () =>
    Effect.gen(function* () {
      const answer = Answers.send({ callback_id: "a", notification: "b" })
      assert.strictEqual(yield* sentAtOnce([answer, answer, answer, answer]), 2)
    })
  )
})

describe("A call whose maximum wait is exceeded", () => {
  it.effect("fails with RateLimited and sends no request", () =>
    Effect.gen(function* () {
      const { journal, layer } = scripted(...Array.from({ length: 3 }, () => ok({ message: message() })))
      const send = RateLimiter.withMaxWait(Messages.send({ chat_id, text: "a" }), 0)
      const exits = yield* Effect.forEach([send, send, send], Effect.exit).pipe(Effect.provide(layer()))
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, true, false])
      assert.lengthOf(journal, 2)
      const error = yield* Effect.flip(Effect.flatten(Effect.succeed(exits[2])))
      assert.strictEqual(error._tag, "RateLimited")
      assert.strictEqual(
        error.message,
        "Messages.send: nothing was sent, no permit was available within the maximum wait. Wait 1.225 seconds."
      )
    })
  )

  it.effect("pauses no other call and is not retried", () =>
    Effect.gen(function* () {
      const { layer } = scripted(...Array.from({ length: 4 }, () => ok({ message: message() })))
      const send = RateLimiter.withMaxWait(Messages.send({ chat_id, text: "a" }), 0)
      yield* Effect.gen(function* () {
        yield* Effect.all([send, send])
        assert.isTrue(Exit.isFailure(yield* Effect.exit(send)))
        yield* Messages.send({ chat_id: ChatId.make(1), text: "b" })
        const limiter = yield* RateLimiter.RateLimiter
        assert.strictEqual((yield* limiter.status).hostLimit, 30)
      }).pipe(Effect.provide(layer()), RetryPolicy.override({}))
    })
  )
})

describe("A request whose permit expired before it was sent", () => {
  it.effect("is sent with another permit, although it is not idempotent", () =>
    Effect.gen(function* () {
      const { journal, layer } = scripted(lost(new RateLimiter.PermitExpired()), ok({ message: message() }))
      yield* Messages.send({ chat_id, text: "a" }).pipe(RetryPolicy.override(RetryPolicy.none), Effect.provide(layer()))
      assert.lengthOf(journal, 2)
    })
  )
})
