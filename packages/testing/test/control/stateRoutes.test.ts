import { Chats, Comments, Keyboard, Messages } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as HttpClient from "effect/http/HttpClient"
import type * as Layer from "effect/Layer"
import { getOk, type Json, postOk } from "../support/control.ts"
import { png } from "../support/media.ts"

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
          messages: messages.map(({ body, link, sender }: Json) => ({
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
          comments: Object.entries(comment_counts).map(([mid, count]) => [indexOf(mid), count])
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
        yield* ben.comment(post, "First")
        yield* ann.comment(post, "Thanks", { onBehalf: true })
        yield* Comments.send({ message_id: post.body!.mid, text: "bot" })
        const expected = yield* restored
        const seed = yield* getOk("/seed")
        yield* postOk("/reset")
        yield* postOk("/seed", seed)
        const actual = yield* restored
        // Comments of bots are not part of a seed.
        expected.chats[1].comments = [[0, 2]]
        assert.deepStrictEqual(actual, expected)
        const image = yield* read(`/media/${token}`)
        assert.deepStrictEqual(
          [image.status, image.headers["content-type"], image.headers["x-content-type-options"]],
          [200, "image/png", "nosniff"]
        )
        assert.deepStrictEqual((yield* getOk("/updates")).updates, [])
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
