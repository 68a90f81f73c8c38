import { describe, expectTypeOf, it } from "vitest"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { type BotApi, type ChatStore, type Inbox, Messages, type Outage, Updates } from "../../src/index.ts"

declare const shop: Updates.Source<Updates.SourceError, BotApi.BotApi>
declare const relay: Updates.Source<"gone">
declare const store: Effect.Effect<void, never, ChatStore.ChatStore>
declare const lines: Stream.Stream<string, "gone", ChatStore.ChatStore>

const reply = Updates.on("message_created", (update) => Messages.reply(update, "Hello"))
const both = Updates.on("message_created", (update) => Effect.andThen(Messages.reply(update, "Hello"), store))

describe("Updates.runFrom", () => {
  it("provides the services of its source, and keeps the errors of the source", () => {
    expectTypeOf(() => Updates.runFrom(shop, reply)).returns.toEqualTypeOf<
      Effect.Effect<void, Updates.SourceError, never>
    >()
    expectTypeOf(() => Updates.runFrom(shop, both)).returns.toEqualTypeOf<
      Effect.Effect<void, Updates.SourceError, ChatStore.ChatStore>
    >()
    expectTypeOf(() => Updates.runFrom(relay, reply)).returns.toEqualTypeOf<
      Effect.Effect<void, "gone" | Outage.OutageError, BotApi.BotApi>
    >()
    expectTypeOf(() => Updates.drainFrom(relay, reply, { onDeadLetter: () => store })).returns.toEqualTypeOf<
      Effect.Effect<boolean, "gone" | Outage.OutageError, BotApi.BotApi | ChatStore.ChatStore>
    >()
  })

  it("keeps its requirements inside Effect.all", () => {
    const bots = () => Effect.all([Updates.runFrom(shop, reply), Updates.runFrom(shop, both)], { discard: true })
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
