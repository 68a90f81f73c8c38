import { Member } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { problemOf } from "../../support/inspect.ts"
import * as Scene from "../../support/scene.ts"

const layer = Emulator.layerBot()

const last = Effect.map(Emulator.updates, (updates) => updates.at(-1)!)

const setup = Effect.gen(function* () {
  const scene = yield* Scene.make
  const { channel, group, owner, visitor } = scene
  const admin = yield* Emulator.user("Ada")
  for (const chat of [group, channel]) {
    yield* owner.addMember(chat, admin)
    yield* owner.setAdmin(chat, admin, ["add_remove_members", "delete"])
  }
  return { ...scene, admin, plain: visitor }
})

describe("a person and the members of a chat", () => {
  it.effect("adds another person: user_added has inviter_id", () =>
    Effect.gen(function* () {
      const { channel, friend, group, owner, plain } = yield* setup
      for (const [by, chat] of [
        [plain, group],
        [owner, channel]
      ] as const) {
        yield* by.addMember(chat, friend)
        const is_channel = chat === channel
        assert.deepStrictEqual<object>(yield* last, {
          update_type: "user_added",
          timestamp: 0,
          chat_id: chat.chat_id,
          is_channel,
          user: friend.user,
          inviter_id: by.user_id
        })
      }
      yield* friend.send(group, "I am here")
    }).pipe(Effect.provide(layer))
  )

  it.effect("cannot add a member, a private or a blocked person, and needs the right in a channel", () =>
    Effect.gen(function* () {
      const { admin, channel, friend, group, owner, plain } = yield* setup
      const shy = yield* Emulator.user({ first_name: "Shy", isPrivate: true })
      const { bot } = yield* Emulator.Emulator
      yield* plain.addMember(group, friend)
      yield* admin.removeMember(group, friend, { block: true })
      const problems = [
        yield* problemOf(plain.addMember(group, admin)),
        yield* problemOf(plain.addMember(group, shy)),
        yield* problemOf(plain.addMember(group, friend)),
        yield* problemOf(plain.addMember(channel, friend)),
        yield* problemOf(plain.addMember(group, bot)),
        yield* problemOf(friend.addMember(group, shy))
      ]
      assert.deepStrictEqual(problems, [
        "Ada is in the chat already",
        "Shy does not allow others to add them",
        "Fred is blocked there",
        "they lack the right add_remove_members",
        "Bot is a bot",
        `they are not in chat ${group.chat_id}`
      ])
      yield* owner.addMember(group, friend)
    }).pipe(Effect.provide(layer))
  )

  it.effect("removes and blocks another person with the right: user_removed has admin_id", () =>
    Effect.gen(function* () {
      const { admin, channel, friend, group, owner, plain } = yield* setup
      for (const chat of [group, channel]) {
        yield* admin.removeMember(chat, plain.user_id)
        assert.deepStrictEqual<object>(yield* last, {
          update_type: "user_removed",
          timestamp: 0,
          chat_id: chat.chat_id,
          is_channel: chat === channel,
          user: plain.user,
          admin_id: admin.user_id
        })
      }
      yield* plain.join(group)
      yield* admin.removeMember(group, plain, { block: true })
      assert.strictEqual(yield* problemOf(plain.join(group)), "they are blocked there")
      yield* friend.join(group)
      const problems = [
        yield* problemOf(friend.removeMember(group, admin)),
        yield* problemOf(admin.removeMember(group, owner)),
        yield* problemOf(admin.removeMember(group, admin)),
        yield* problemOf(admin.removeMember(group, plain))
      ]
      assert.deepStrictEqual(problems, [
        "they lack the right add_remove_members",
        "the owner cannot be removed",
        "they cannot remove themselves: use leave",
        "Victor is not in the chat"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("makes another person an administrator, and no bot receives an update", () =>
    Effect.gen(function* () {
      const { admin, channel, friend, owner, plain } = yield* setup
      const before = (yield* Emulator.updates).length
      yield* owner.setAdmin(channel, plain, ["write"])
      yield* plain.send(channel, "A post of mine")
      yield* owner.setAdmin(channel, plain, undefined)
      assert.strictEqual(yield* problemOf(plain.send(channel, "Another one")), "they lack the right write")
      assert.deepStrictEqual(
        (yield* Emulator.updates).slice(before).map(({ update_type }) => update_type),
        ["message_created"]
      )
      const problems = [
        yield* problemOf(admin.setAdmin(channel, plain, ["write"])),
        yield* problemOf(owner.setAdmin(channel, owner, undefined)),
        yield* problemOf(owner.setAdmin(channel, friend, ["write"])),
        yield* problemOf(owner.setAdmin(channel, plain, ["nonsense"])),
        yield* Effect.andThen(
          owner.setAdmin(channel, admin, ["add_admins"]),
          problemOf(admin.setAdmin(channel, admin, ["write"]))
        )
      ]
      assert.deepStrictEqual(problems, [
        "they lack the right add_admins",
        "the owner has all rights",
        "Fred is not in the chat",
        `permissions: there is no right "nonsense"; there are ${Member.permissions.join(", ")}`,
        "they cannot appoint themselves"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("removes the comment of another person with the right", () =>
    Effect.gen(function* () {
      const { admin, channel, comment, owner, plain, post } = yield* setup
      yield* owner.setAdmin(channel, plain, ["write", "edit"])
      const sent = yield* owner.comment(post, "Well said")
      assert.strictEqual(yield* problemOf(plain.removeComment(sent)), "the comment is not theirs")
      assert.strictEqual(yield* problemOf(admin.editComment(sent, "Badly said")), "the comment is not theirs")
      yield* admin.removeComment(sent)
      assert.deepInclude(yield* last, {
        update_type: "comment_removed",
        message_id: sent.body.mid,
        user_id: admin.user_id
      })
      yield* admin.removeComment(comment)
      assert.deepStrictEqual(yield* Emulator.comments(post), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("makes the bot an administrator only with the right", () =>
    Effect.gen(function* () {
      const { admin, channel, group, owner, plain } = yield* setup
      for (const chat of [channel, group]) {
        for (const by of [plain, admin]) {
          assert.strictEqual(yield* problemOf(by.setBotAdmin(chat, ["write"])), "they lack the right add_admins")
        }
      }
      yield* owner.setAdmin(group, plain, ["add_admins"])
      yield* plain.setBotAdmin(group, ["write"])
      assert.deepInclude(yield* last, { user_id: plain.user_id, permissions: ["write"] })
    }).pipe(Effect.provide(layer))
  )

  it.effect("removes the messages of others, and the bot, only with the right", () =>
    Effect.gen(function* () {
      const { admin, group, owner, plain } = yield* setup
      const sent = yield* plain.send(group, "Hello")
      yield* owner.setAdmin(group, admin, ["write"])
      assert.strictEqual(yield* problemOf(admin.remove(sent)), "the message is not theirs")
      for (const by of [plain, admin]) {
        assert.strictEqual(yield* problemOf(by.removeBot(group)), "they lack the right add_remove_members")
      }
      yield* owner.setAdmin(group, admin, ["delete", "add_remove_members"])
      yield* admin.remove(sent)
      yield* admin.removeBot(group)
    }).pipe(Effect.provide(layer))
  )

  it.effect("joins or adds the bot without an update if they are members", () =>
    Effect.gen(function* () {
      const { group, owner, visitor } = yield* Scene.make
      const before = yield* Emulator.updates
      yield* visitor.join(group)
      yield* owner.addBot(group)
      assert.deepStrictEqual(yield* Emulator.updates, before)
    }).pipe(Effect.provide(layer))
  )
})
