import { Members } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { codeOf } from "../../support/inspect.ts"
import * as Scene from "../../support/scene.ts"

describe("Members.list", () => {
  it.effect("fails with chat.denied in a channel of which the bot is not an administrator", () =>
    Effect.gen(function* () {
      const { channel, owner } = yield* Scene.make
      yield* owner.setBotAdmin(channel, undefined)
      assert.strictEqual(yield* codeOf(Members.list({ chat_id: channel.chat_id })), "Forbidden chat.denied")
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})

describe("Members.add", () => {
  it.effect("adds the users that can be added, and accepts users that are members", () =>
    Effect.gen(function* () {
      const { friend, group } = yield* Scene.make
      const { chat_id } = group
      const recluse = yield* Emulator.user({ first_name: "Rita", isPrivate: true })
      const failure = yield* Effect.flip(Members.add({ chat_id, user_ids: [friend.user_id, recluse.user_id] }))
      assert.strictEqual(failure._tag, "AddParticipantFailed")
      const { members } = yield* Members.list({ chat_id })
      assert.isTrue(members.some(({ user_id }) => user_id === friend.user_id))
      yield* Members.add({ chat_id, user_ids: [friend.user_id] })
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})
