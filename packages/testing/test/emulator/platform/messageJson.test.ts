import { Json, Message, Messages } from "@colloquy/core"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import { isPlain, writePlain } from "../../../src/emulator/internal/platform/messageJson.ts"
import { hostileTexts } from "../../support/hostileTexts.ts"

const encode = Schema.encodeSync(Message.Message)

describe("messageJson", () => {
  it.effect("writes a plain message as its schema encodes it", () =>
    Effect.gen(function* () {
      const person = yield* Emulator.user({
        first_name: 'Ann "the first"',
        last_name: "",
        username: "ann",
        description: "Not part of a sender",
        avatar_url: "https://pictures.example/ann.png"
      })
      const group = yield* Emulator.chat({ members: [person] })
      const messages = [
        yield* Messages.send({ chat_id: group.chat_id, text: "To a group" }),
        ...(yield* Effect.forEach(hostileTexts(300), (text) => person.send(text)))
      ]
      for (const message of messages) {
        assert.isTrue(isPlain(message))
        assert.deepStrictEqual(Json.parse(writePlain(message)), Json.parse(Json.stringify(encode(message))))
      }
    }).pipe(Effect.provide(Emulator.layerBot()))
  )

  it.effect("does not write a post, or a message with markup, attachments or a link", () =>
    Effect.gen(function* () {
      const person = yield* Emulator.user("Ann")
      const { user_id } = person
      const said = yield* person.send("Hello")
      const image = { type: "image" as const, payload: { url: "https://pictures.example/a.png" } }
      const channel = yield* Emulator.chat({ type: "channel", isPublic: true, bot: { admin: true } })
      const messages = [
        yield* Messages.send({ chat_id: channel.chat_id, text: "A post" }),
        yield* Messages.send({ user_id, text: "**bold**", format: "markdown" }),
        yield* Messages.send({ user_id, text: "A picture", attachments: [image] }),
        yield* Messages.send({ user_id, text: "A reply", link: { type: "reply", mid: said.body!.mid } })
      ]
      assert.deepStrictEqual(messages.map(isPlain), [false, false, false, false])
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})
