import { Comments, Message, Text } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { codeOf, updateTypes } from "./support/look.ts"
import * as Scene from "./support/scene.ts"

const layer = Emulator.layerBot()

const denied = "Forbidden chat.denied"

describe("comments", () => {
  it.effect("name their post, and reply to each other", () =>
    Effect.gen(function* () {
      const { channel, comment, post } = yield* Scene.make
      const message_id = Scene.midOf(post)
      const link = { type: "reply" as const, mid: comment.body.mid }
      const reply = yield* Comments.send({ message_id, text: "Second", link })
      assert.deepStrictEqual(reply.recipient, { chat_id: channel.chat_id, chat_type: "channel", post_id: message_id })
      assert.deepInclude(reply.link, { type: "reply", message: comment.body })
      assert.deepStrictEqual(yield* Comments.get({ message_id, comment_id: reply.body.mid }), reply)
      assert.deepStrictEqual(yield* Emulator.comments(post), [comment, reply])
      const unknown = { type: "reply" as const, mid: Message.MessageId.make("mid.0") }
      const failed = Comments.send({ message_id, text: "?", link: unknown })
      assert.strictEqual(yield* codeOf(failed), "NotFound message.not.found")
    }).pipe(Effect.provide(layer))
  )

  it.effect("have markup, but no hyperlinks", () =>
    Effect.gen(function* () {
      const { post } = yield* Scene.make
      const text = Text.toMarkdown(Text.t`${Text.bold("See")} ${Text.link("this", "https://e.example")}`)
      const { body } = yield* Comments.send({ message_id: Scene.midOf(post), text, format: "markdown" })
      assert.strictEqual(body.text, "See this")
      assert.deepStrictEqual(body.markup, [{ type: "strong", from: 0, length: 3 }])
    }).pipe(Effect.provide(layer))
  )

  it.effect("are listed newest first, in pages, within times and by ids", () =>
    Effect.gen(function* () {
      const { comment, post, visitor } = yield* Scene.make
      const message_id = Scene.midOf(post)
      for (const text of ["a", "b", "c"]) {
        yield* TestClock.adjust("1 second")
        yield* visitor.comment(post, text)
      }
      const texts = (request: Omit<Comments.ListRequest, "message_id">) =>
        Effect.map(Comments.list({ message_id, ...request }), ({ marker, messages }) => [
          messages.map(({ body }) => body.text).join(","),
          marker ?? null
        ])
      assert.deepStrictEqual(yield* texts({}), ["c,b,a,First", null])
      const [newest, marker] = yield* texts({ count: 2 })
      assert.strictEqual(newest, "c,b")
      assert.deepStrictEqual(yield* texts({ count: 2, marker: BigInt(marker!) }), ["a,First", null])
      assert.deepStrictEqual(yield* texts({ after: 1000, before: 3000 }), ["b", null])
      assert.deepStrictEqual(yield* texts({ comment_ids: [comment.body.mid], count: 1 }), ["First", null])
      const all = yield* Stream.runCollect(Comments.stream({ message_id, count: 1 }))
      assert.deepStrictEqual(
        all.map(({ body }) => body.text),
        ["c", "b", "a", "First"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("need rights, and a channel where they are enabled", () =>
    Effect.gen(function* () {
      const { channel, comment, message, owner, post } = yield* Scene.make
      const message_id = Scene.midOf(post)
      const send = Comments.send({ message_id, text: "hi" })
      yield* Emulator.allowComments(channel, false)
      assert.strictEqual(yield* codeOf(send), denied)
      yield* Comments.edit({ message_id, comment_id: comment.body.mid, text: "still mine" })
      yield* Emulator.allowComments(channel, true)
      yield* owner.setBotAdmin(channel, ["read_all_messages"])
      assert.strictEqual(yield* codeOf(send), denied)
      yield* Comments.list({ message_id })
      yield* owner.setBotAdmin(channel, ["write"])
      assert.strictEqual(yield* codeOf(Comments.list({ message_id })), denied)
      const inGroup = Comments.send({ message_id: Scene.midOf(message), text: "hi" })
      assert.strictEqual(yield* codeOf(inGroup), "NotFound message.not.found")
    }).pipe(Effect.provide(layer))
  )

  it.effect("are edited by the bot where they are its own or the channel's", () =>
    Effect.gen(function* () {
      const { channel, comment, owner, post, visitor } = yield* Scene.make
      const message_id = Scene.midOf(post)
      const edit = (comment_id: Message.MessageId) => Comments.edit({ message_id, comment_id, text: "edited" })
      yield* edit(comment.body.mid)
      const ofChannel = (yield* owner.comment(post, "We", { onBehalf: true })).body.mid
      yield* edit(ofChannel)
      const foreign = (yield* visitor.comment(post, "I")).body.mid
      assert.strictEqual(yield* codeOf(edit(foreign)), "Forbidden access.denied")
      yield* owner.setBotAdmin(channel, ["read_all_messages", "write"])
      assert.strictEqual(yield* codeOf(edit(ofChannel)), "Forbidden access.denied")
      yield* edit(comment.body.mid)
    }).pipe(Effect.provide(layer))
  )

  it.effect("cannot be edited after 26 hours", () =>
    Effect.gen(function* () {
      const { comment, post } = yield* Scene.make
      const edit = Comments.edit({ message_id: Scene.midOf(post), comment_id: comment.body.mid, text: "late" })
      yield* TestClock.adjust("26 hours")
      yield* edit
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* codeOf(edit), "CommentsTimeoutExceeded comments.timeout_exceeded")
    }).pipe(Effect.provide(layer))
  )

  it.effect("of people cause updates", () =>
    Effect.gen(function* () {
      const { channel, owner, post, visitor } = yield* Scene.make
      const before = (yield* Emulator.updates).length
      const comment = yield* visitor.comment(post, "hi")
      yield* visitor.editComment(comment, "hi!")
      yield* visitor.removeComment(comment)
      yield* owner.comment(post, "We", { onBehalf: true })
      const updates = (yield* Emulator.updates).slice(before)
      assert.deepStrictEqual((yield* updateTypes).slice(before), [
        "comment_created",
        "comment_edited",
        "comment_removed",
        "comment_created"
      ])
      assert.deepInclude(updates[2], {
        message_id: comment.body.mid,
        post_id: Scene.midOf(post),
        chat_id: channel.chat_id,
        user_id: visitor.user_id
      })
      const last = updates[3]
      assert.isTrue(last.update_type === "comment_created" && last.message.sender === undefined)
    }).pipe(Effect.provide(layer))
  )
})
