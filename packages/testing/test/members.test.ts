import { Members, User } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { codeOf } from "./support/look.ts"
import * as Scene from "./support/scene.ts"

const layer = Emulator.layerBot()

const denied = "Forbidden chat.denied"

describe("members", () => {
  it.effect("are listed in pages", () =>
    Effect.gen(function* () {
      const people = yield* Effect.forEach(Array.from({ length: 24 }), (_, index) => Emulator.user(`Person ${index}`))
      const { chat_id } = yield* Emulator.chat({ members: people })
      const first = yield* Members.list({ chat_id })
      assert.deepStrictEqual([first.members.length, first.marker], [20, 20n])
      const last = yield* Members.list({ chat_id, marker: first.marker! })
      assert.deepStrictEqual([last.members.length, last.marker ?? null], [5, null])
      const all = yield* Stream.runCollect(Members.stream({ chat_id, count: 7 }))
      assert.strictEqual(new Set(all.map(({ user_id }) => user_id)).size, 25)
      const chosen = yield* Members.list({ chat_id, user_ids: [people[3].user_id, User.UserId.make(5)] })
      assert.deepStrictEqual(
        chosen.members.map(({ first_name }) => first_name),
        ["Person 3"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("of a channel are shown to its administrators only", () =>
    Effect.gen(function* () {
      const { channel, owner } = yield* Scene.make
      yield* owner.setBotAdmin(channel, undefined)
      assert.strictEqual(yield* codeOf(Members.list({ chat_id: channel.chat_id })), denied)
      assert.strictEqual(yield* codeOf(Members.listAdmins({ chat_id: channel.chat_id })), denied)
    }).pipe(Effect.provide(layer))
  )

  it.effect("are added, all but those who cannot be", () =>
    Effect.gen(function* () {
      const { friend, group } = yield* Scene.make
      const recluse = yield* Emulator.user({ first_name: "Rita", isPrivate: true })
      const nobody = User.UserId.make(5)
      const user_ids = [friend.user_id, recluse.user_id, nobody]
      const failure = yield* Effect.flip(Members.add({ chat_id: group.chat_id, user_ids }))
      assert.strictEqual(failure._tag, "AddParticipantFailed")
      if (failure._tag !== "AddParticipantFailed") return
      assert.deepStrictEqual(failure.failed_user_ids, [recluse.user_id, nobody])
      assert.deepStrictEqual(failure.failedFor("add.participant.privacy"), [recluse.user_id])
      assert.deepStrictEqual(failure.failedFor("add.participant.not.found"), [nobody])
      const { members } = yield* Members.list({ chat_id: group.chat_id })
      assert.isTrue(members.some(({ user_id }) => user_id === friend.user_id))
      const update = (yield* Emulator.updates).at(-1)
      const { bot } = yield* Emulator.Emulator
      assert.deepInclude(update, { update_type: "user_added", user: friend.user, inviter_id: bot.user_id })
      yield* Members.add({ chat_id: group.chat_id, user_ids: [friend.user_id] })
    }).pipe(Effect.provide(layer))
  )

  it.effect("are added by an administrator with the right, and never to a channel", () =>
    Effect.gen(function* () {
      const { channel, friend, group, owner } = yield* Scene.make
      const user_ids = [friend.user_id]
      assert.strictEqual(yield* codeOf(Members.add({ chat_id: channel.chat_id, user_ids })), denied)
      yield* owner.setBotAdmin(group, ["write"])
      assert.strictEqual(yield* codeOf(Members.add({ chat_id: group.chat_id, user_ids })), denied)
    }).pipe(Effect.provide(layer))
  )

  it.effect("are removed, and with `block` for good", () =>
    Effect.gen(function* () {
      const { group, owner, visitor } = yield* Scene.make
      const { chat_id } = group
      const remove = (user_id: User.UserId, block: boolean) => Members.remove({ chat_id, user_id, block })
      yield* remove(visitor.user_id, false)
      yield* visitor.join(group)
      yield* remove(visitor.user_id, true)
      assert.strictEqual((yield* Effect.flip(visitor.join(group))).reason, "they are blocked there")
      assert.strictEqual(yield* codeOf(remove(visitor.user_id, true)), "NotFound not.found")
      assert.strictEqual(yield* codeOf(remove(owner.user_id, false)), denied)
    }).pipe(Effect.provide(layer))
  )

  it.effect("include the bot, with its rights, until it leaves", () =>
    Effect.gen(function* () {
      const { group, owner } = yield* Scene.make
      const { chat_id } = group
      yield* owner.setBotAdmin(group, ["write", "edit"])
      const me = yield* Members.getMe({ chat_id })
      assert.deepInclude(me, { is_admin: true, is_owner: false, permissions: ["write", "edit"] })
      yield* Members.leave({ chat_id })
      assert.strictEqual(yield* codeOf(Members.getMe({ chat_id })), denied)
    }).pipe(Effect.provide(layer))
  )

  it.effect("become administrators and are dismissed", () =>
    Effect.gen(function* () {
      const { friend, group, owner, visitor } = yield* Scene.make
      const { chat_id } = group
      const admins = [{ user_id: visitor.user_id, permissions: ["write"], alias: "Editor" }]
      yield* Members.setAdmins({ chat_id, admins })
      const listed = (yield* Members.listAdmins({ chat_id })).members
      assert.deepInclude(
        listed.find(({ user_id }) => user_id === visitor.user_id),
        { alias: "Editor", is_admin: true, permissions: ["write"] }
      )
      assert.strictEqual(listed.length, 3)
      yield* Members.removeAdmin({ chat_id, user_id: visitor.user_id })
      assert.strictEqual((yield* Members.listAdmins({ chat_id })).members.length, 2)
      const notFound = "NotFound not.found"
      assert.strictEqual(yield* codeOf(Members.removeAdmin({ chat_id, user_id: visitor.user_id })), notFound)
      const stranger = [{ user_id: friend.user_id, permissions: [] }]
      assert.strictEqual(yield* codeOf(Members.setAdmins({ chat_id, admins: stranger })), notFound)
      assert.strictEqual(yield* codeOf(Members.removeAdmin({ chat_id, user_id: owner.user_id })), denied)
    }).pipe(Effect.provide(layer))
  )
})
