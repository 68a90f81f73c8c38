import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import { Comments, Me, Members, Messages, Updates } from "../../src/index.ts"
import { bot, chat_id, comment, message, mid, user } from "../support/fixtures.ts"
import { ok, scripted } from "../support/scripted.ts"

const logging = (logs: Array<string>) => Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))])

describe("A page with an element that cannot be decoded", () => {
  const pages = [
    [
      "messages",
      Effect.map(Messages.list({ message_ids: [mid] }), ({ length }) => length),
      message(),
      { timestamp: 1 }
    ],
    ["members", Effect.map(Members.list({ chat_id }), ({ members }) => members.length), user, { first_name: "Ann" }],
    ["members", Effect.map(Members.listAdmins({ chat_id }), ({ members }) => members.length), user, "Ann"],
    ["messages", Effect.map(Comments.list({ message_id: mid }), ({ messages }) => messages.length), comment(), null]
  ] as const

  it.effect.each(pages)("has the other %s, and a warning", ([key, count, good, bad]) =>
    Effect.gen(function* () {
      const logs: Array<string> = []
      const platform = scripted(ok({ [key]: [good, bad, good] }))
      assert.strictEqual(yield* count.pipe(Effect.provide([platform.layer(), logging(logs)])), 2)
      assert.lengthOf(logs, 1)
      assert.include(logs[0], `\`${key}[1]\``)
    })
  )

  it.effect("has the other updates, and the malformed one as a failure", () =>
    Effect.gen(function* () {
      const started = { update_type: "bot_started", timestamp: 1, chat_id: 5, user }
      const platform = scripted(ok({ updates: [started, { update_type: "bot_started" }, null, started], marker: 1 }))
      const { updates } = yield* Updates.list({}).pipe(Effect.provide(platform.layer()))
      assert.deepStrictEqual(updates.map(Result.isSuccess), [true, false, false, true])
    })
  )

  it.effect("is still malformed if it has no list", () =>
    Effect.gen(function* () {
      for (const messages of [5, undefined, "x", {}, 12345678901234567890n]) {
        const error = yield* Messages.list({ message_ids: [mid] }).pipe(
          Effect.flip,
          Effect.provide(scripted(ok({ messages })).layer())
        )
        assert.include(error.message, "`messages")
      }
    })
  )
})

describe("People in a response", () => {
  const older = { user_id: 5, name: "Ann Lee", last_activity_time: "yesterday", permissions: ["write", 5] }

  it.effect("are repaired in a list of members", () =>
    Effect.gen(function* () {
      const platform = scripted(ok({ members: [older, user] }))
      const { members } = yield* Members.list({ chat_id }).pipe(Effect.provide(platform.layer()))
      assert.deepStrictEqual<ReadonlyArray<unknown>>(members, [
        { user_id: 5, name: "Ann Lee", first_name: "Ann Lee", is_bot: false },
        user
      ])
    })
  )

  it.effect("are repaired where they are the response", () =>
    Effect.gen(function* () {
      const { first_name: _, ...nameless } = { ...bot, commands: [{ name: "help" }, { description: "no name" }] }
      const platform = scripted(ok({ ...nameless, name: "Echo", avatar_url: 5 }), ok({ ...older, is_admin: "no" }))
      const [me, member] = yield* Effect.all([Me.get(), Members.getMe({ chat_id })]).pipe(
        Effect.provide(platform.layer())
      )
      assert.deepInclude<unknown>(me, { first_name: "Echo", user_id: 7, commands: [{ name: "help" }] } as never)
      assert.deepInclude<unknown>(member, { first_name: "Ann Lee", user_id: 5, is_bot: false } as never)
    })
  )

  it.effect("cannot be used without an id", () =>
    Effect.gen(function* () {
      const error = yield* Me.get().pipe(Effect.flip, Effect.provide(scripted(ok({ first_name: "Echo" })).layer()))
      assert.include(error.message, "`user_id` is missing")
      assert.notInclude(error.message, "is_bot")
    })
  )
})

describe("A large page", () => {
  it.effect("is decoded, element by element", () =>
    Effect.gen(function* () {
      const messages = Array.from({ length: 1000 }, (_, index) => message({ timestamp: index }))
      const platform = scripted(ok({ messages }))
      const decoded = yield* Messages.list({ message_ids: [mid] }).pipe(Effect.provide(platform.layer()))
      assert.deepStrictEqual<unknown>(decoded, messages)
    })
  )
})
