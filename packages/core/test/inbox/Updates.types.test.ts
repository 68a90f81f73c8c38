import { describe, expectTypeOf, it } from "vitest"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import {
  Bot,
  type BotApi,
  type ChatStore,
  Handler,
  type Inbox,
  Messages,
  type Outage,
  Updates
} from "../../src/index.ts"

declare const shop: Updates.Source<Updates.SourceError, BotApi.BotApi>
declare const relay: Updates.Source<"gone">
declare const store: Effect.Effect<void, never, ChatStore.ChatStore>
declare const lines: Stream.Stream<string, "gone", ChatStore.ChatStore>

const reply = Handler.on("message_created", (update) => Messages.reply(update, "Hello"))
const both = Handler.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Hello"), store))

describe("Bot.run with a source", () => {
  it("provides the services of its source, and keeps the errors of the source", () => {
    expectTypeOf(() => Bot.run(reply, { source: shop })).returns.toEqualTypeOf<
      Effect.Effect<void, Updates.SourceError, never>
    >()
    expectTypeOf(() => Bot.run(both, { source: shop })).returns.toEqualTypeOf<
      Effect.Effect<void, Updates.SourceError, ChatStore.ChatStore>
    >()
    expectTypeOf(() => Bot.run(reply, { source: relay })).returns.toEqualTypeOf<
      Effect.Effect<void, "gone" | Outage.OutageError, BotApi.BotApi>
    >()
    expectTypeOf(() => Bot.drain(reply, { source: relay, onDeadLetter: () => store })).returns.toEqualTypeOf<
      Effect.Effect<boolean, "gone" | Outage.OutageError, BotApi.BotApi | ChatStore.ChatStore>
    >()
  })

  it("keeps its requirements inside Effect.all", () => {
    const bots = () =>
      Effect.all([Bot.run(reply, { source: shop }), Bot.run(both, { source: shop })], { discard: true })
    expectTypeOf(bots).returns.toEqualTypeOf<Effect.Effect<void, Updates.SourceError, ChatStore.ChatStore>>()
  })
})

describe("Updates.make", () => {
  it("keeps the errors and the requirements of its stream", () => {
    expectTypeOf(() => Updates.make(lines)).returns.toEqualTypeOf<
      Effect.Effect<Updates.Source<"gone">, never, Inbox.Inbox | ChatStore.ChatStore>
    >()
  })
})
