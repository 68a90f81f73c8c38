import { Chats, Comments, Keyboard, Messages } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { getOk, type Json, post, postError, postOk } from "../../support/control.ts"
import { png } from "../../support/media.ts"

const inEmulator = <A, E>(test: Effect.Effect<A, E, Layer.Success<ReturnType<typeof Emulator.layerBot>>>) =>
  Effect.provide(test, Emulator.layerBot())

/** The response of a call whose body is not JSON. */
const read = (path: string) =>
  Effect.gen(function* () {
    const { headers, status, text } = yield* HttpClient.get(`${Emulator.baseUrl}/_emulator${path}`)
    return { status, headers, text: yield* text }
  })

/** The parts of the state that a seed restores. */
const restored = Effect.gen(function* () {
  const { chats, people } = yield* getOk("/state")
  const withMessages = yield* Effect.forEach(
    chats as ReadonlyArray<Json>,
    ({ chat, last_message: _, members, pinned, ...rest }: Json) =>
      Effect.gen(function* () {
        const { comment_counts, messages } = yield* getOk(`/chats/${chat.chat_id}/messages`)
        const indexOf = (mid: string) => messages.findIndex((message: Json) => message.body.mid === mid)
        return {
          ...rest,
          chat_id: chat.chat_id,
          type: chat.type,
          title: chat.title,
          description: chat.description,
          pinned: indexOf(pinned),
          members: members.map(({ is_owner, permissions, user_id }: Json) => ({ user_id, is_owner, permissions })),
          messages: messages.map(({ body, link, sender, timestamp }: Json) => ({
            mid: body.mid,
            seq: body.seq,
            timestamp,
            author: sender?.user_id,
            text: body.text,
            markup: body.markup,
            attachments: body.attachments?.map(({ type, payload, filename, size, latitude }: Json) => ({
              type,
              filename,
              size,
              latitude,
              token: payload?.token,
              buttons: payload?.buttons,
              vcf_info: payload?.vcf_info
            })),
            link: link && { type: link.type, index: indexOf(link.message.mid), text: link.message.text }
          })),
          comments: yield* Effect.forEach(Object.keys(comment_counts), (mid) =>
            Effect.map(getOk(`/messages/${mid}/comments`), ({ comments }: Json) =>
              comments.map(({ body, link, recipient, sender, timestamp }: Json) => ({
                body,
                timestamp,
                recipient,
                link: link && { type: link.type, message: link.message },
                author: sender?.user_id
              }))
            )
          )
        }
      })
  )
  return {
    people: people.map(({ user: { last_activity_time: _, ...user }, ...rest }: Json) => ({ ...rest, user })),
    chats: withMessages
  }
})

describe("the state", () => {
  it.effect("is saved as a seed that restores it after a reset", () =>
    inEmulator(
      Effect.gen(function* () {
        const ann = yield* Emulator.user({ first_name: "Ann", locale: "en", phone: "+79001234567" })
        const ben = yield* Emulator.user({ first_name: "Ben", username: "ben", isPrivate: true })
        const group = yield* Emulator.chat({
          title: "Friends",
          owner: ann,
          members: [ben],
          bot: { permissions: ["pin_message"] }
        })
        const channel = yield* Emulator.chat({
          type: "channel",
          title: "News",
          owner: ann,
          members: [ben],
          bot: { admin: true }
        })
        const { token } = yield* postOk("/media", { type: "image", content: Base64.encode(png(4, 4)) })
        yield* ann.send("**hi** _there_", { format: "markdown" })
        const question = yield* Messages.send({
          user_id: ann.user_id,
          text: "<b>Sure?</b>",
          format: "html",
          attachments: [Keyboard.make([Keyboard.callback("Yes", "yes"), Keyboard.requestContact("Phone")])]
        })
        yield* ann.press(question, "Phone")
        const photo = yield* ben.send(group, "photo", { attachments: [{ type: "image", payload: { token } }] })
        yield* Messages.send({ chat_id: group.chat_id, text: "nice", link: { type: "reply", mid: photo.body!.mid } })
        yield* Chats.pin({ chat_id: group.chat_id, message_id: photo.body!.mid })
        yield* ben.send(group, "", { attachments: [{ type: "location", latitude: 1, longitude: 2 }] })
        yield* ben.send(group, "", { attachments: [{ type: "file", filename: "a.pdf", size: 7 }] })
        yield* ben.leave(group)
        const post = yield* Messages.send({ chat_id: channel.chat_id, text: "Post" })
        const first = yield* ben.comment(post, "First")
        yield* TestClock.adjust("1 minute")
        yield* ann.comment(post, "Thanks", { onBehalf: true })
        yield* Comments.send({
          message_id: post.body!.mid,
          text: "**bot**",
          format: "markdown",
          link: { type: "reply", mid: first.body.mid }
        })
        yield* TestClock.adjust("1 hour")
        const expected = yield* restored
        const seed = yield* getOk("/seed")
        yield* postOk("/reset")
        yield* postOk("/seed", seed)
        const actual = yield* restored
        assert.deepStrictEqual(
          expected.chats[1].comments[0].map(({ body }: Json) => body.text),
          ["First", "Thanks", "bot"]
        )
        assert.deepStrictEqual(actual, expected)
        const image = yield* read(`/media/${token}`)
        assert.deepStrictEqual(
          [image.status, image.headers["content-type"], image.headers["x-content-type-options"]],
          [200, "image/png", "nosniff"]
        )
        assert.deepStrictEqual((yield* getOk("/updates")).updates, [])
        const next = yield* Messages.send({ chat_id: group.chat_id, text: "next" })
        assert.isAbove(Number(next.body!.seq - photo.body!.seq), 0)
      })
    )
  )

  it.effect("refuses media in the form of its other errors, also in a seed", () =>
    inEmulator(
      Effect.gen(function* () {
        const tooWide = { type: "image", content: Base64.encode(png(8000, 4)) }
        const message = "The image has 8000 x 4 px: each side can have at most 7680 px"
        assert.deepStrictEqual(yield* postError("/media", tooWide), [400, "upload.dimensions", message])
        const inSeed = yield* postError("/seed", { media: [tooWide] })
        assert.deepStrictEqual(inSeed, [400, "proto.payload", `media[0].${message}`])
      })
    )
  )

  it.effect("restores messages of the future, after which new ones have later positions", () =>
    inEmulator(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        yield* ann.start()
        yield* TestClock.adjust("1 day")
        const late = yield* Messages.send({ user_id: ann.user_id, text: "tomorrow" })
        const seed = yield* getOk("/seed")
        yield* Effect.provide(
          Effect.gen(function* () {
            yield* postOk("/seed", seed)
            const bot_id = (yield* Emulator.bots)[0].user_id
            const next = yield* Messages.send({ user_id: ann.user_id, text: "today" })
            const again = yield* Messages.send({ user_id: ann.user_id, text: "today" })
            assert.strictEqual(next.body!.seq, late.body!.seq + 1n)
            assert.strictEqual(again.body!.seq, late.body!.seq + 2n)
            assert.strictEqual(next.sender?.user_id, bot_id)
          }),
          Layer.fresh(Emulator.layerBot().pipe(Layer.provideMerge(TestClock.layer())))
        )
      })
    )
  )

  it.effect("refuses an id that a message of the chat cannot have", () =>
    inEmulator(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const { chat_id } = yield* ann.start()
        const said = yield* ann.send("hi")
        const { mid } = said.body!
        const ofOther = mid.replace(/^mid\.[0-9a-f]{16}/, "mid.0000000000000001")
        const load = (message: object, options: object = { unchecked: true }) =>
          Effect.gen(function* () {
            yield* postOk("/reset")
            const seed = {
              users: [{ user_id: 1, first_name: "Ann" }],
              chats: [{ type: "dialog", chat_id, members: [1], messages: [{ user_id: 1, text: "hi", mid }, message] }],
              ...options
            }
            return (yield* post("/seed", seed)).body.message
          })
        assert.include(yield* load({ text: "twice", mid }), "chats[0].messages[1].mid: no new message")
        assert.include(yield* load({ text: "other", mid: ofOther }), "chats[0].messages[1].mid: no new message")
        assert.include(yield* load({ text: "short", mid: "mid.12" }), "chats[0].messages[1].mid: no new message")
        assert.strictEqual(yield* load({ text: "no id", timestamp: 1 }), "chats[0].messages[1].timestamp: requires mid")
        assert.strictEqual(yield* load({}, {}), "chats[0].messages[0].mid: requires unchecked: true")
      })
    )
  )

  it.effect("has the limits and how much of each is used", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const { chat_id } = yield* ann.start()
      yield* Messages.send({ user_id: ann.user_id, text: "1" })
      const { user_id: bot_id } = (yield* Emulator.bots)[0]
      assert.deepStrictEqual(yield* getOk("/limits"), {
        limits: { host: 30, messages: 2, answers: 2, polling: 2, window_ms: 1000 },
        used: [
          { scope: "host", used: 1, limit: 30, bot_id, free_in_ms: 0 },
          { scope: "messages", used: 1, limit: 2, bot_id, chat_id, free_in_ms: 0 }
        ]
      })
    }).pipe(Effect.provide(Emulator.layerBot({ limits: {} })))
  )

  it.effect("is read as lines of JSON with all events", () =>
    inEmulator(
      Effect.gen(function* () {
        yield* (yield* Emulator.user("Ann")).send("hi")
        const { text } = yield* read("/journal")
        const events = text
          .trimEnd()
          .split("\n")
          .map((line): Json => JSON.parse(line))
        assert.deepStrictEqual(
          events.map(({ id, type }) => [id, type]),
          [
            [0, "user"],
            [1, "user"],
            [2, "chat"],
            [3, "chat"],
            [4, "update"],
            [5, "update"],
            [6, "message"]
          ]
        )
      })
    )
  )
})
