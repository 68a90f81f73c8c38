import {
  Bot,
  type Chat,
  Comments,
  Handler,
  Inbox,
  LongPolling,
  Members,
  Messages,
  RetryPolicy,
  Update
} from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

type Remove = (
  update: Update.Of<"message_created">,
  chat_id: Chat.ChatId
) => Effect.Effect<unknown, unknown, Layer.Success<typeof platform>>

const removals = {
  "Messages.remove": (update) => Messages.remove({ message_id: update.message!.body!.mid }),
  "Members.remove": (update, chat_id) => Members.remove({ chat_id, user_id: Update.userIdOf(update)! }),
  "Members.removeAdmin": (update, chat_id) => Members.removeAdmin({ chat_id, user_id: Update.userIdOf(update)! }),
  "Members.leave": (_update, chat_id) => Members.leave({ chat_id })
} satisfies Record<string, Remove>

/** Handles a message by a removal. Returns the errors of the dead letters. */
const handling = (remove: Remove, then: (attempt: number) => Effect.Effect<void, string> = () => Effect.void) =>
  Effect.gen(function* () {
    const olga = yield* Emulator.user("Olga")
    const ben = yield* Emulator.user("Ben")
    const group = yield* Emulator.chat({ owner: olga, members: [ben], bot: { admin: true } })
    const { chat_id } = group
    const { user_id } = ben.user
    yield* Members.setAdmins({ chat_id, admins: [{ user_id, permissions: ["read_all_messages"] }] })
    const bot = Bot.run(
      Handler.on("message_created", (update) =>
        Effect.gen(function* () {
          yield* remove(update, chat_id)
          yield* then(yield* Handler.CurrentAttempt)
        })
      )
    )
    yield* Effect.gen(function* () {
      yield* ben.send(group, "Hello")
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 120 })
    }).pipe(Effect.raceFirst(bot))
    const dead = yield* Stream.runCollect(Inbox.deadLetters)
    return dead.map(({ error }) => error.split("\n")[0])
  })

describe("a removal", () => {
  for (const name of Object.keys(removals) as ReadonlyArray<keyof typeof removals>) {
    const remove = removals[name]
    it.effect(`is accepted in an attempt after the one that has carried it out: ${name}`, () =>
      Effect.gen(function* () {
        const errors = yield* handling(remove, (attempt) => (attempt === 1 ? Effect.fail("not yet") : Effect.void))
        assert.deepStrictEqual(errors, [])
      }).pipe(Effect.provide(platform))
    )

    it.effect(`is accepted if the client repeats it after a lost response: ${name}`, () =>
      Effect.gen(function* () {
        yield* Emulator.setFaults([{ endpoint: name, nth: 1, reset: "after" }])
        assert.deepStrictEqual(yield* handling(remove), [])
      }).pipe(Effect.provide(platform))
    )
  }

  it.effect("of something that does not exist fails, also in a later attempt", () =>
    Effect.gen(function* () {
      const twice = (update: Update.Of<"message_created">) => {
        const remove = Messages.remove({ message_id: update.message!.body!.mid })
        return Effect.andThen(remove, remove)
      }
      assert.include((yield* handling(twice))[0], "NotFound")
      const attempts: Array<string> = []
      yield* handling((update) =>
        Effect.gen(function* () {
          yield* Emulator.setFaults([])
          const missing = Messages.remove({ message_id: `${update.message!.body!.mid}0` as never })
          attempts.push((yield* Effect.flip(missing))._tag)
          if (attempts.length < 2) return yield* Effect.fail("not yet")
        }).pipe(RetryPolicy.override(RetryPolicy.none))
      )
      assert.deepStrictEqual(attempts, ["NotFound", "NotFound"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("of a comment is accepted in an attempt after the one that has carried it out", () =>
    Effect.gen(function* () {
      const olga = yield* Emulator.user("Olga")
      const channel = yield* Emulator.chat({ owner: olga, type: "channel", hasComments: true, bot: { admin: true } })
      const post = yield* olga.send(channel, "News")
      const message_id = post.body!.mid
      const comment_id = (yield* olga.comment(post, "First")).body!.mid
      const bot = Bot.run(
        Handler.on("message_created", (update) =>
          Effect.gen(function* () {
            if (Update.textOf(update) !== "Remove it") return
            yield* Comments.remove({ message_id, comment_id })
            if ((yield* Handler.CurrentAttempt) === 1) return yield* Effect.fail("not yet")
          })
        )
      )
      yield* Effect.gen(function* () {
        yield* olga.send("Remove it")
        yield* Effect.repeat(TestClock.adjust("1 second"), { times: 60 })
      }).pipe(Effect.raceFirst(bot))
      assert.deepStrictEqual(yield* Stream.runCollect(Inbox.deadLetters), [])
      assert.deepStrictEqual(yield* Emulator.comments(post), [])
    }).pipe(Effect.provide(platform))
  )
})
