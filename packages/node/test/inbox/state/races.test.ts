import { Bot, Handler, Inbox, State, type Update, Updates } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import { Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { databases } from "../../support/sharedStores.ts"

const Presses = State.make("presses", Schema.Int, { of: "user", initial: () => 0 })

const InChat = State.make("inChat", Schema.Struct({ seen: Schema.Array(Schema.Int) }), {
  of: "chat",
  initial: () => ({ seen: [] })
})

const pairs = 15

const chats = [1, 2].map((id) => ChatId.make(id))

/** A person starts the bot in two chats at once, again and again. */
const updates = Array.from({ length: pairs }, (_, timestamp) =>
  chats.map((chat_id): Inbox.Received => ({
    decoded: Result.succeed<Update.Update>({ ...Fixtures.botStarted(), chat_id, timestamp })
  }))
).flat()

describe("the state of a person who does something in two chats at once", () => {
  for (const { isMissing, kind, opened } of databases) {
    it.live.skipIf(isMissing)(`loses no change in ${kind}, whose two consumers run handlers again`, () =>
      Effect.gen(function* () {
        const { another, store } = yield* opened
        const inboxes = yield* Effect.forEach([store, yield* another], (store) =>
          Effect.provideService(Inbox.make(), InboxStore, store)
        )
        let runs = 0
        const handle = Handler.on("bot_started", ({ timestamp }) =>
          Effect.gen(function* () {
            runs++
            const count = yield* Presses.get
            // Its partner may be handled meanwhile.
            yield* Effect.sleep("5 millis")
            if (timestamp % 4 === 0 && (yield* Handler.CurrentAttempt) === 1) return yield* Effect.fail("as planned")
            yield* Presses.set(count + 1)
            yield* InChat.update(({ seen }) => ({ seen: [...seen, timestamp] }))
          })
        )
        yield* inboxes[0]!.receive(updates)
        const consume = (inbox: Inbox.Inbox["Service"]) =>
          Bot.run(handle, { retry: Schedule.spaced("5 millis") }).pipe(
            Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never }))
          )
        const isEmpty = Effect.repeat(Effect.delay(inboxes[0]!.stats, "20 millis"), {
          while: ({ queued }) => queued > 0
        })
        yield* Effect.raceFirst(Effect.forEach(inboxes, consume, { concurrency: 2, discard: true }), isEmpty)
        const { user_id } = Fixtures.user()
        const seen = Array.from({ length: pairs }, (_, index) => index)
        const values = Effect.gen(function* () {
          return {
            presses: yield* Presses.at({ user_id }).get,
            seen: yield* Effect.forEach(chats, (chat_id) => InChat.at({ chat_id }).get)
          }
        })
        assert.deepStrictEqual(yield* Effect.provideService(values, Inbox.Inbox, inboxes[1]!), {
          presses: pairs * chats.length,
          seen: chats.map(() => ({ seen }))
        })
        assert.isAbove(runs, updates.length + Math.ceil(pairs / 4) * chats.length)
      }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
    )
  }
})
