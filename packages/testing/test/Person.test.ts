import { Chat, Comments, Messages, User } from "@colloquy/core"
import { Emulator, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { updateTypes } from "./support/look.ts"
import * as Scene from "./support/scene.ts"

const layer = Emulator.layerBot()

const problemOf = <A, R>(effect: Effect.Effect<A, { readonly problem: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ problem }) => problem)

describe("a person", () => {
  it.effect("begins a dialog by writing, again after stopping the bot", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      assert.strictEqual(yield* problemOf(visitor.dialog), "they have no dialog with the bot: use start")
      yield* visitor.say("hi")
      yield* visitor.say("ho")
      yield* visitor.stop
      yield* visitor.say("again")
      assert.deepStrictEqual(yield* updateTypes, [
        "bot_started",
        "message_created",
        "message_created",
        "bot_stopped",
        "bot_started",
        "message_created"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("forwards, replies and attaches", () =>
    Effect.gen(function* () {
      const { asked, group, message, visitor } = yield* Scene.make
      const place = { type: "location" as const, latitude: 1, longitude: 2 }
      const reply = yield* visitor.say(group, "Here", {
        attachments: [place],
        link: { type: "reply", mid: Scene.midOf(message) }
      })
      assert.deepStrictEqual(reply.body?.attachments, [place])
      assert.deepInclude(reply.link, { type: "reply", message: message.body! })
      const forward = yield* visitor.say(group, "", { link: { type: "forward", mid: Scene.midOf(asked) } })
      assert.isNull(forward.body)
      assert.strictEqual(yield* problemOf(visitor.say(group, "")), "a message has a text, attachments or a link")
    }).pipe(Effect.provide(layer))
  )

  it.effect("says and names no more than the platform lets anybody", () =>
    Effect.gen(function* () {
      const { channel, group, owner, post, visitor } = yield* Scene.make
      const fitting = "a".repeat(4000)
      const said = yield* visitor.say(group, fitting)
      const comment = yield* visitor.comment(post, fitting)
      const places = Array.from({ length: 13 }, () => ({ type: "location" as const, latitude: 1, longitude: 2 }))
      yield* visitor.say(group, "", { attachments: places.slice(1) })
      const tooLong = "a text has at most 4000 characters"
      const expected: ReadonlyArray<readonly [Effect.Effect<unknown, Person.CannotDo>, string]> = [
        [visitor.say(group, fitting + "a"), tooLong],
        [visitor.say(fitting + "a"), tooLong],
        [visitor.edit(said, fitting + "a"), tooLong],
        [visitor.edit(said, ""), "a message has a text, attachments or a link"],
        [visitor.say(group, "", { attachments: places }), "a message has at most 12 attachments"],
        [visitor.comment(post, fitting + "a"), tooLong],
        [visitor.editComment(comment, fitting + "a"), tooLong],
        [visitor.editComment(comment, ""), "a comment has a text"],
        [owner.rename(channel, ""), "title: must be 1 to 200 characters"],
        [owner.rename(channel, "a".repeat(201)), "title: must be 1 to 200 characters"]
      ]
      for (const [doing, problem] of expected) assert.strictEqual(yield* problemOf(doing), problem)
      assert.strictEqual((yield* Emulator.messages(group)).at(-2)?.body?.text, fitting)
    }).pipe(Effect.provide(layer))
  )

  it.effect("does nothing in a chat that was closed", () =>
    Effect.gen(function* () {
      const { friend, group, owner, visitor } = yield* Scene.make
      yield* owner.removeBot(group)
      yield* Emulator.closeChat(group)
      const doings = [visitor.say(group, "hi"), friend.join(group), owner.addBot(group), owner.rename(group, "New")]
      for (const doing of doings) assert.strictEqual(yield* problemOf<unknown, never>(doing), "the chat is closed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("is made with what can be, or the test has a defect", () =>
    Effect.gen(function* () {
      const { group, owner, visitor } = yield* Scene.make
      const defects = [
        Emulator.user({ first_name: "Ann", user_id: visitor.user_id }),
        Emulator.user({ first_name: "Ann", user_id: User.UserId.make(-1) }),
        Emulator.user({ first_name: "Ann", description: "a".repeat(16_001) }),
        Emulator.chat({ chat_id: group.chat_id, owner }),
        Emulator.chat({ chat_id: Chat.ChatId.make(5) }),
        Emulator.chat({ title: "" }),
        Emulator.closeChat(Chat.ChatId.make(5)),
        Emulator.allowComments(Chat.ChatId.make(5), true)
      ]
      const problems = yield* Effect.forEach(defects, (making) =>
        Effect.map(Effect.exit<unknown, never, Emulator.Emulator>(making), (exit) =>
          exit._tag === "Failure" ? String(Cause.squash(exit.cause)) : "made"
        )
      )
      assert.deepStrictEqual(problems, [
        `RangeError: Emulator.user: user_id: there is a user ${visitor.user_id} already`,
        "RangeError: Emulator.user: user_id: must be greater than 0",
        "RangeError: Emulator.user: description: must be at most 16000 characters",
        `RangeError: Emulator.chat: chat_id: there is a chat ${group.chat_id} already`,
        "RangeError: Emulator.chat: chat_id: must be less than 0 for a chat",
        "RangeError: Emulator.chat: title: must be 1 to 200 characters",
        "RangeError: Emulator.closeChat: there is no chat 5",
        "RangeError: Emulator.allowComments: there is no chat 5"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("hears each thing that the bot says once, and only where they are", () =>
    Effect.gen(function* () {
      const { friend, group, post, visitor } = yield* Scene.make
      const texts = [yield* visitor.reply, yield* visitor.reply, yield* visitor.reply].map(({ body }) => body?.text)
      assert.deepStrictEqual(texts, ["Shall we?", "Hello", "News"])
      const waiting = yield* Effect.forkChild(friend.reply)
      yield* Messages.send({ chat_id: group.chat_id, text: "for members" })
      yield* friend.join(group)
      const message = yield* Messages.send({ chat_id: group.chat_id, text: "for all" })
      assert.deepStrictEqual(yield* Fiber.join(waiting), message)
      yield* Messages.edit({ message_id: Scene.midOf(message), text: "edited" })
      yield* Messages.remove({ message_id: Scene.midOf(message) })
      yield* Comments.send({ message_id: Scene.midOf(post), text: "a comment" })
      const heard = yield* Stream.runCollect(Stream.take(Emulator.said(group), 5))
      assert.deepStrictEqual(
        heard.map(({ _tag }) => _tag),
        ["Message", "Message", "Message", "Edited", "Removed"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("is told why something cannot be done", () =>
    Effect.gen(function* () {
      const { asked, channel, friend, group, message, visitor } = yield* Scene.make
      const { chat_id } = group
      const problems = [
        yield* problemOf(friend.say(group, "hi")),
        yield* problemOf(friend.press(asked, "Yes")),
        yield* problemOf(visitor.edit(message, "mine")),
        yield* problemOf(visitor.remove(message)),
        yield* problemOf(visitor.say(channel, "hi")),
        yield* problemOf(visitor.comment(message, "hi")),
        yield* problemOf(friend.leave(group))
      ]
      assert.deepStrictEqual(problems, [
        `they are not in chat ${chat_id}`,
        `they see no message ${Scene.midOf(asked)}`,
        "the message is not theirs",
        "the message is not theirs",
        "they lack the right write",
        "comments are for the posts of channels",
        `they are not in chat ${chat_id}`
      ])
      const error = yield* Effect.flip(friend.leave(group))
      assert.strictEqual(error.message, `Fred cannot do this: they are not in chat ${chat_id}`)
    }).pipe(Effect.provide(layer))
  )
})
