import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expectTypeOf, it } from "vitest"
import { type BotApi, Handler, Keyboard, LiveMessage, type Messages } from "../../src/index.ts"

class Broken extends Data.TaggedError("Broken")<{}> {}

const text: Stream.Stream<string, Broken> = Stream.fail(new Broken())

const keyboard = Keyboard.make([LiveMessage.stopButton("Stop")])

describe("the types of LiveMessage", () => {
  it("contain the error of a stream, and of a function that returns one", () => {
    Handler.on("message_created", (update) => {
      type Failure = Broken | LiveMessage.IdleTimeout | LiveMessage.Error | Messages.NoChat
      type Expected = Effect.Effect<LiveMessage.Result, Failure, BotApi.BotApi>
      const ofStream = LiveMessage.reply(update, text, {
        keyboard,
        onFailure: ({ _tag }: Broken | LiveMessage.IdleTimeout) => _tag
      })
      const ofFunction = LiveMessage.reply(update, (said) => Stream.concat(text, Stream.make(said)))
      expectTypeOf(ofStream).toEqualTypeOf<Expected>()
      expectTypeOf(ofFunction).toEqualTypeOf<Expected>()
      return ofStream
    })
  })

  it("refuse the options that a comment cannot have", () => {
    Handler.on(["message_created", "comment_created"], (update) => {
      // @ts-expect-error: a comment has no buttons
      const withButtons = LiveMessage.reply(update, text, { keyboard })
      // @ts-expect-error: a comment has no attachments
      const withAttachments = LiveMessage.reply(update, text, { atEnd: { attachments: [] } })
      // @ts-expect-error: a comment cannot be forwarded
      const forwarded = LiveMessage.reply(update, text, { link: { type: "forward", mid: update.message!.body!.mid } })
      const notice = LiveMessage.reply(update, text, { atEnd: { notice: "Done" }, onNextMessage: "replace" })
      expectTypeOf(notice).toExtend<Effect.Effect<LiveMessage.Result, unknown, BotApi.BotApi>>()
      return Effect.all([withButtons, withAttachments, forwarded, notice])
    })
  })
})
