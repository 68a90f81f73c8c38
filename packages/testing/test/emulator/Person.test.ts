import { Chat, Chats, Comments, Keyboard, Member, Messages, MiniApp, Updates, User } from "@colloquy/core"
import { Emulator, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { problemOf, updateTypes } from "../support/inspect.ts"
import * as Scene from "../support/scene.ts"

const layer = Emulator.layerBot()

describe("Person", () => {
  it.effect("starts the dialog with the first message, and again after stopping the bot", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      assert.strictEqual(yield* problemOf(visitor.dialog), "they have no dialog with the bot: use start")
      yield* visitor.send("hi")
      yield* visitor.send("ho")
      yield* visitor.stop
      yield* visitor.send(yield* visitor.dialog, "again")
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

  it.effect("sends forwards, replies and attachments", () =>
    Effect.gen(function* () {
      const { asked, group, message, visitor } = yield* Scene.make
      const place = { type: "location" as const, latitude: 1, longitude: 2 }
      const reply = yield* visitor.send(group, "Here", {
        attachments: [place],
        link: { type: "reply", mid: Scene.midOf(message) }
      })
      assert.deepStrictEqual(reply.body?.attachments, [place])
      assert.deepInclude(reply.link, { type: "reply", message: message.body! })
      const forward = yield* visitor.send(group, "", { link: { type: "forward", mid: Scene.midOf(asked) } })
      assert.deepStrictEqual(Object.keys(forward.body!), ["mid", "seq", "text"])
      assert.strictEqual(yield* problemOf(visitor.send(group, "")), "a message has a text, attachments or a link")
    }).pipe(Effect.provide(layer))
  )

  it.effect("sends an image, which the bot can send back", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const { body } = yield* ann.send("", {
        attachments: [{ type: "image", payload: { url: "https://a.test/cat.png" } }]
      })
      const [photo] = body?.attachments ?? []
      if (photo?.type !== "image") return assert.fail("no photo")
      const { token } = photo.payload
      yield* Messages.send({ user_id: ann.user_id, attachments: [{ type: "image", payload: { token } }] })
      assert.deepStrictEqual((yield* ann.reply).body?.attachments, [photo])
    }).pipe(Effect.provide(layer))
  )

  it.effect("sends media in a short form, and the bot can use each token", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const url = "https://a.test/media"
      const { body } = yield* ann.send("", {
        attachments: [
          { type: "image", payload: { url, token: "photo", photo_id: 5n } },
          { type: "video", payload: { url, token: "video" }, width: 640, height: 480, duration: 2 },
          { type: "audio" },
          { type: "file", filename: "a.txt", size: 3 },
          { type: "sticker", payload: { code: "smile" } },
          { type: "location", latitude: 1, longitude: 2 }
        ]
      })
      const [photo, video, sound, file, ...rest] = body?.attachments ?? []
      assert.deepInclude(photo, { type: "image" })
      assert.deepStrictEqual(video, {
        type: "video",
        payload: { url, token: "video" },
        width: 640,
        height: 480,
        duration: 2
      })
      assert.deepInclude(file, { filename: "a.txt", size: 3 })
      assert.deepStrictEqual(rest, [
        { type: "sticker", payload: { code: "smile" } },
        { type: "location", latitude: 1, longitude: 2 }
      ])
      for (const media of [photo, video, sound, file]) {
        if (media?.type !== "image" && media?.type !== "video" && media?.type !== "audio" && media?.type !== "file") {
          return assert.fail("no media")
        }
        const { payload, type } = media
        if (type === "image") assert.deepInclude(payload, { token: "photo", photo_id: 5n })
        const attachments = [{ type, payload: { token: payload.token } }]
        yield* Messages.send({ user_id: ann.user_id, attachments })
        assert.strictEqual((yield* ann.reply).body?.attachments?.[0]?.type, type)
      }
      assert.strictEqual(
        yield* problemOf(ann.send("", { attachments: [{ type: "file", payload: { token: "photo" } }] })),
        "no file has the token photo"
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("cannot exceed the lengths that the platform allows", () =>
    Effect.gen(function* () {
      const { channel, group, owner, post, visitor } = yield* Scene.make
      const longest = "a".repeat(4000)
      const sent = yield* visitor.send(group, longest)
      const comment = yield* visitor.comment(post, longest)
      const places = Array.from({ length: 13 }, () => ({ type: "location" as const, latitude: 1, longitude: 2 }))
      yield* visitor.send(group, "", { attachments: places.slice(1) })
      const tooLong = "a text has at most 4000 characters"
      const expected: ReadonlyArray<readonly [Effect.Effect<unknown, Person.PersonError>, string]> = [
        [visitor.send(group, longest + "a"), tooLong],
        [visitor.send(longest + "a"), tooLong],
        [visitor.edit(sent, longest + "a"), tooLong],
        [visitor.edit(sent, ""), "a message has a text, attachments or a link"],
        [visitor.send(group, "", { attachments: places }), "a message has at most 12 attachments"],
        [visitor.comment(post, longest + "a"), tooLong],
        [visitor.editComment(comment, longest + "a"), tooLong],
        [visitor.editComment(comment, ""), "a comment has a text"],
        [owner.rename(channel, ""), "title: must be 1 to 200 characters"],
        [owner.rename(channel, "a".repeat(201)), "title: must be 1 to 200 characters"]
      ]
      for (const [action, problem] of expected) assert.strictEqual(yield* problemOf(action), problem)
      assert.strictEqual((yield* Emulator.messages(group)).at(-2)?.body?.text, longest)
    }).pipe(Effect.provide(layer))
  )

  it.effect("cannot act in a closed chat", () =>
    Effect.gen(function* () {
      const { friend, group, owner, visitor } = yield* Scene.make
      yield* owner.removeBot(group)
      yield* Emulator.closeChat(group)
      const actions = [visitor.send(group, "hi"), friend.join(group), owner.addBot(group), owner.rename(group, "New")]
      for (const action of actions) assert.strictEqual(yield* problemOf<unknown, never>(action), "the chat is closed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("dies with a RangeError if an option is invalid", () =>
    Effect.gen(function* () {
      const { group, owner, visitor } = yield* Scene.make
      const defects = [
        Emulator.user({ first_name: "Ann", user_id: visitor.user_id }),
        Emulator.user({ first_name: "Ann", user_id: User.UserId.make(-1) }),
        Emulator.user({ first_name: "Ann", description: "a".repeat(16_001) }),
        Emulator.chat({ chat_id: group.chat_id, owner }),
        Emulator.chat({ chat_id: Chat.ChatId.make(5) }),
        Emulator.chat({ title: "" }),
        Emulator.chat({ bot: { permissions: ["nonsense"] } }),
        Emulator.chat({ bot: { admin: false, permissions: ["write"] } }),
        Emulator.closeChat(Chat.ChatId.make(5)),
        Emulator.allowComments(Chat.ChatId.make(5), true)
      ]
      const rights = Member.permissions.join(", ")
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
        `RangeError: Emulator.chat: bot.permissions: there is no right "nonsense"; there are ${rights}`,
        "RangeError: Emulator.chat: bot.permissions: a plain member has none",
        "RangeError: Emulator.closeChat: there is no chat 5",
        "RangeError: Emulator.allowComments: there is no chat 5"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("sees each event once, and only in their chats", () =>
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
      const events = yield* Stream.runCollect(Stream.take(Emulator.seenIn(group), 5))
      assert.deepStrictEqual(
        events.map(({ _tag }) => _tag),
        ["Message", "Message", "Message", "Edited", "Removed"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("presses a button by its text, position or payload, and fails if several match", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* ann.start()
      const keyboard = Keyboard.make(
        [Keyboard.callback("Buy", "apple"), Keyboard.callback("Buy", "pear")],
        [Keyboard.callback("Help", "help"), Keyboard.callback("Help me", "help")]
      )
      const shop = yield* Messages.send({ user_id: ann.user_id, text: "Shop", attachments: [keyboard] })
      yield* ann.press(shop, [0, 0])
      yield* ann.press(shop, { payload: "pear" })
      yield* ann.press(shop, "Help")
      const payloads = (yield* Emulator.updates).flatMap((update) =>
        update.update_type === "message_callback" ? [update.callback.payload] : []
      )
      assert.deepStrictEqual(payloads, ["apple", "pear", "help"])
      const problems = yield* Effect.forEach(
        ["Buy", { payload: "help" }, { payload: "plum" }, [0, 2]] as const,
        (button) => problemOf(ann.press(shop, button))
      )
      const there = `there are "Buy", "Buy", "Help", "Help me". The message is "Shop"`
      assert.deepStrictEqual(problems, [
        `there are 2 buttons "Buy": press one by its [row, column]`,
        `there are 2 buttons with the payload "help": press one by its [row, column]`,
        `there is no button with the payload "plum"; ${there}`,
        `there is no button at row 0, column 2; ${there}`
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("needs the same rights for a button that sends a message as for the message", () =>
    Effect.gen(function* () {
      const { asked, channel, group, owner, visitor } = yield* Scene.make
      const keyboard = Keyboard.make([Keyboard.message("Later")])
      const attachments = [keyboard]
      const post = yield* Messages.send({ chat_id: channel.chat_id, text: "Shall we?", attachments })
      const closed = yield* Messages.send({ chat_id: group.chat_id, text: "Shall we?", attachments })
      yield* Emulator.closeChat(group)
      assert.strictEqual(yield* problemOf(visitor.press(post, "Later")), "they lack the right write")
      assert.strictEqual(yield* problemOf(owner.press(closed, "Later")), "the chat is closed")
      yield* visitor.stop
      yield* visitor.press(asked, "Later")
      assert.deepStrictEqual((yield* updateTypes).slice(-3), ["bot_stopped", "bot_started", "message_created"])
      yield* Messages.send({ user_id: visitor.user_id, text: "Welcome back" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("accepts undefined and null for omitted options", () =>
    Effect.gen(function* () {
      // A caller that does not use exactOptionalPropertyTypes can pass undefined.
      const profile = { first_name: "Ann", username: undefined, last_name: undefined } as { first_name: string }
      const ann = yield* Emulator.user(profile)
      const { body } = yield* ann.send("", { attachments: [{ type: "file", filename: undefined, size: null }] })
      assert.deepInclude(body?.attachments?.[0], { type: "file", size: 0 })
      const { updates } = yield* Updates.list({ timeout: 0 })
      assert.isTrue(updates.every(Result.isSuccess))
      assert.lengthOf(updates, 2)
    }).pipe(Effect.provide(layer))
  )

  it.effect("waits for the next event of a kind or one that matches, and returns each event once", () =>
    Effect.gen(function* () {
      const { friend, group, message, post, visitor } = yield* Scene.make
      yield* friend.join(group)
      const editing = yield* Effect.forkChild(friend.next("Edited"))
      yield* Messages.edit({ message_id: Scene.midOf(message), text: "Hello, all" })
      assert.strictEqual((yield* Fiber.join(editing)).message.body?.text, "Hello, all")
      yield* Messages.remove({ message_id: Scene.midOf(message) })
      assert.strictEqual((yield* friend.next("Removed")).message_id, Scene.midOf(message))
      assert.strictEqual((yield* visitor.next("Comment")).comment.body.text, "First")
      const second = yield* Comments.send({ message_id: Scene.midOf(post), text: "Second" })
      assert.deepStrictEqual((yield* visitor.next("Comment")).comment, second)
      const news = yield* visitor.next((event) => event._tag === "Message" && event.message.body?.text === "News")
      assert.strictEqual(news.chat_id, post.recipient.chat_id)
      const texts = [yield* visitor.reply, yield* visitor.reply].map(({ body }) => body?.text)
      assert.deepStrictEqual(texts, ["Shall we?", "Hello"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("has no unread events if the bot did not answer", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const { chat_id } = yield* ann.start()
      const { user_id } = ann
      yield* Chats.sendAction({ chat_id, action: "typing_on" })
      yield* Messages.send({ user_id, text: "Hello" })
      yield* ann.reply
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* ann.unread, [])
      const message = yield* Messages.send({ user_id, text: "Are you there?" })
      assert.deepStrictEqual(yield* ann.unread, [{ _tag: "Message", chat_id, message, notify: true }])
      assert.deepStrictEqual(yield* ann.unread, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("opens a mini app with init data that the bot accepts", () =>
    Effect.gen(function* () {
      const { token } = yield* Emulator.Emulator
      const ann = yield* Emulator.user({ first_name: "Ann", username: "ann", locale: "en" })
      const { chat_id } = yield* ann.start()
      const buttons = [
        Keyboard.openApp("Open", "https://app.example/shop", { payload: "red" }),
        Keyboard.callback("Yes", "yes")
      ]
      const shown = yield* Messages.send({ chat_id, text: "Shop", attachments: [Keyboard.make(buttons)] })
      const { initData, url } = yield* ann.openApp(shown, "Open")
      assert.strictEqual(url, "https://app.example/shop")
      const { chat, start_param, user } = yield* MiniApp.verify(initData, { token })
      assert.deepStrictEqual(
        [chat?.id, start_param, user?.id, user?.first_name, user?.username, user?.language_code],
        [chat_id, "red", ann.user_id, "Ann", "ann", "en"]
      )
      assert.strictEqual(yield* problemOf(ann.openApp(shown, "Yes")), 'the button "Yes" opens no mini app')
      assert.deepStrictEqual(yield* updateTypes, ["bot_started"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails with the reason why an action is not possible", () =>
    Effect.gen(function* () {
      const { asked, channel, friend, group, message, visitor } = yield* Scene.make
      const { chat_id } = group
      const problems = [
        yield* problemOf(friend.send(group, "hi")),
        yield* problemOf(friend.press(asked, "Yes")),
        yield* problemOf(visitor.edit(message, "mine")),
        yield* problemOf(visitor.remove(message)),
        yield* problemOf(visitor.send(channel, "hi")),
        yield* problemOf(visitor.comment(message, "hi")),
        yield* problemOf(friend.leave(group))
      ]
      assert.deepStrictEqual(problems, [
        `they are not in chat ${chat_id}`,
        `they see no message ${Scene.midOf(asked)}`,
        "the message is not theirs",
        "the message is not theirs",
        "they lack the right write",
        "only channel posts have comments",
        `they are not in chat ${chat_id}`
      ])
      const error = yield* Effect.flip(friend.leave(group))
      assert.strictEqual(error.message, `Fred cannot do this: they are not in chat ${chat_id}`)
    }).pipe(Effect.provide(layer))
  )
})
