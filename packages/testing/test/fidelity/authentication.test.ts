import { Emulator } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { assumes, says } from "../support/fidelity.ts"
import { DELETE, denied, GET, PATCH, POST, PUT, failsWith, succeeds, hasSuccess } from "../support/http.ts"
import * as Scene from "../support/scene.ts"

const unauthorized = (call: ReturnType<typeof GET>) => failsWith(call, 401, "verify.token")

says(
  "Authentication",
  "Every request has the bot token in the header Authorization",
  Effect.gen(function* () {
    const { group, message } = yield* Scene.make
    const { chat_id } = group
    const none = { token: null }
    const calls = [
      GET("/me", undefined, none),
      GET("/updates", undefined, none),
      GET("/subscriptions", undefined, none),
      POST("/subscriptions", { url: "https://b.example" }, none),
      GET(`/chats/${chat_id}`, undefined, none),
      PATCH(`/chats/${chat_id}`, { title: "a" }, none),
      POST(`/messages?chat_id=${chat_id}`, { text: "a" }, none),
      GET(`/messages/${Scene.midOf(message)}`, undefined, none),
      DELETE(`/messages?message_id=${Scene.midOf(message)}`, undefined, none),
      PUT(`/chats/${chat_id}/pin`, { message_id: Scene.midOf(message) }, none),
      POST("/uploads?type=image", undefined, none),
      POST("/answers?callback_id=a", { notification: "a" }, none)
    ]
    for (const call of calls) yield* unauthorized(call)
    yield* succeeds(GET("/me"))
  })
)

says(
  "Authentication",
  "Passing the token in query parameters is not supported",
  Effect.gen(function* () {
    yield* unauthorized(GET("/me?access_token=emulator-token", undefined, { token: null }))
    yield* unauthorized(GET("/me?access_token=emulator-token", undefined, { token: "" }))
  })
)

says(
  "Authentication",
  "An incorrect or invalid token returns 401",
  Effect.gen(function* () {
    for (const token of ["wrong", "emulator-toke", "emulator-tokens", "EMULATOR-TOKEN", "null"]) {
      yield* unauthorized(GET("/me", undefined, { token }))
    }
  })
)

assumes(
  "A",
  "Authentication",
  "The header contains only the token: Bearer and other schemes return 401",
  Effect.gen(function* () {
    for (const scheme of ["Bearer", "bearer", "Bot", "Basic", "access_token"]) {
      yield* unauthorized(GET("/me", undefined, { token: `${scheme} emulator-token` }))
    }
  })
)

assumes(
  "A",
  "Authentication",
  "The body of a 401 has the code verify.token",
  Effect.gen(function* () {
    const { at } = yield* GET("/me", undefined, { token: "wrong" })
    assert.strictEqual(at("code"), "verify.token")
  })
)

says(
  "Authentication",
  "A token that was revoked returns 401",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    yield* Emulator.revokeToken()
    yield* unauthorized(GET("/me"))
    const before = yield* Emulator.messages(group)
    yield* unauthorized(POST(`/messages?chat_id=${group.chat_id}`, { text: "a" }))
    assert.deepStrictEqual(yield* Emulator.messages(group), before)
  })
)

assumes(
  "C",
  "Authentication",
  "A token that was replaced by another one returns 403 deprecated.token",
  Effect.gen(function* () {
    yield* Emulator.revokeToken("emulator-token", "deprecated")
    yield* failsWith(GET("/me"), 403, "deprecated.token")
    yield* failsWith(POST("/messages", "{"), 403, "deprecated.token")
  })
)

says(
  "Authentication",
  "Revoking the token of one bot does not affect the tokens of other bots",
  Effect.gen(function* () {
    yield* succeeds(GET("/me", undefined, { token: "second" }))
    yield* Emulator.revokeToken("second")
    yield* unauthorized(GET("/me", undefined, { token: "second" }))
    yield* succeeds(GET("/me"))
  }).pipe(Effect.provide(Emulator.layerBot({ moreTokens: ["second"] })))
)

assumes(
  "C",
  "Authentication",
  "The token is checked before the request",
  Effect.gen(function* () {
    yield* unauthorized(POST("/messages", "{", { token: "wrong" }))
    yield* unauthorized(GET("/chats/-1", undefined, { token: "wrong" }))
  })
)

says(
  "Authentication",
  "Operations that change a chat return 403 if the bot is not an administrator",
  Effect.gen(function* () {
    const { friend, group, message, owner, visitor } = yield* Scene.make
    yield* owner.setBotAdmin(group, undefined)
    const { chat_id } = group
    const calls = [
      PATCH(`/chats/${chat_id}`, { title: "a" }),
      PATCH(`/chats/${chat_id}`, {}),
      PUT(`/chats/${chat_id}/pin`, { message_id: Scene.midOf(message) }),
      DELETE(`/chats/${chat_id}/pin`),
      POST(`/chats/${chat_id}/members`, { user_ids: [friend.user_id] }),
      DELETE(`/chats/${chat_id}/members?user_id=${visitor.user_id}`),
      POST(`/chats/${chat_id}/members/admins`, { admins: [{ user_id: visitor.user_id, permissions: ["write"] }] }),
      DELETE(`/chats/${chat_id}/members/admins/${visitor.user_id}`)
    ]
    for (const call of calls) yield* denied(call)
  })
)

assumes(
  "B",
  "Authentication",
  "An operation returns 403 if the bot is an administrator without its right: change_chat_info, pin_message, add_remove_members, add_admins",
  Effect.gen(function* () {
    const { friend, group, message, owner, visitor } = yield* Scene.make
    const { chat_id } = group
    const admins = [{ user_id: visitor.user_id, permissions: ["write"] }]
    const needs = {
      change_chat_info: () => PATCH(`/chats/${chat_id}`, { title: "a" }),
      pin_message: () => PUT(`/chats/${chat_id}/pin`, { message_id: Scene.midOf(message) }),
      add_remove_members: () => POST(`/chats/${chat_id}/members`, { user_ids: [friend.user_id] }),
      add_admins: () => POST(`/chats/${chat_id}/members/admins`, { admins })
    }
    const rights = Object.keys(needs) as ReadonlyArray<keyof typeof needs>
    for (const right of rights) {
      yield* owner.setBotAdmin(
        group,
        rights.filter((other) => other !== right)
      )
      yield* denied(needs[right]())
      yield* owner.setBotAdmin(group, [right])
      yield* succeeds(needs[right]())
    }
  })
)

assumes(
  "A",
  "Authentication",
  "Operations in a chat return 403 after the bot was removed from it or has left it",
  Effect.gen(function* () {
    const { channel, group, owner } = yield* Scene.make
    yield* owner.removeBot(group)
    yield* hasSuccess(DELETE(`/chats/${channel.chat_id}/members/me`), true)
    for (const { chat_id } of [group, channel]) {
      yield* denied(POST(`/messages?chat_id=${chat_id}`, { text: "a" }))
      yield* denied(PATCH(`/chats/${chat_id}`, { title: "a" }))
      yield* denied(GET(`/messages?chat_id=${chat_id}`))
      yield* denied(GET(`/chats/${chat_id}/members`))
    }
  })
)
