import { Bot, Handler, Inbox, LiveMessage, RateLimiter, type Update } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { seconds, ticking, withBot, words } from "../../support/liveMessages.ts"
import { webhook } from "../../support/webhookBots.ts"

// The platform sends updates about comments to webhooks only.
const layer = webhook().pipe(
  Layer.provideMerge(Inbox.layerMemory()),
  Layer.provideMerge(Emulator.layerBot({ clientLimits: RateLimiter.defaults }))
)

/** A post on which Ann comments, and a bot that answers her comments. */
const commenting = <E, R>(answer: (update: Update.Of<"comment_created">) => Effect.Effect<LiveMessage.Result, E, R>) =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    const channel = yield* Emulator.chat({ type: "channel", owner: ann, hasComments: true, bot: { admin: true } })
    const post = yield* ann.send(channel, "News")
    const outcomes: Array<LiveMessage.Outcome> = []
    const bot = Bot.run(
      Handler.on("comment_created", (update) =>
        update.message.sender?.is_bot === true
          ? undefined
          : Effect.map(answer(update), ({ outcome }) => void outcomes.push(outcome))
      )
    )
    const ofBot = Effect.map(Emulator.comments(post), (comments) =>
      comments.filter(({ sender }) => sender?.is_bot === true)
    )
    const texts = Effect.map(ofBot, (comments) => comments.map(({ body }) => body.text ?? ""))
    return { ann, bot, ofBot, outcomes, post, texts }
  })

describe("LiveMessage.reply on a comment", () => {
  it.effect("sends a comment and edits it, with the limits of the channel and without typing", () =>
    Effect.gen(function* () {
      const { ann, bot, post, texts } = yield* commenting((update) =>
        LiveMessage.reply(update, ticking(words(40), 100), { atEnd: { notice: "Done" } })
      )
      const changes = Effect.map(Emulator.requests, (requests) =>
        requests.filter(({ endpoint }) => endpoint === "Comments.send" || endpoint === "Comments.edit")
      )
      yield* withBot(
        bot,
        Effect.gen(function* () {
          yield* ann.comment(post, "Tell me")
          yield* seconds(2)
          assert.match((yield* texts)[0] ?? "", /^word0 word1 /)
          yield* seconds(4)
        })
      )
      assert.deepStrictEqual(yield* texts, [`${words(40).join("")}\n\nDone`])
      assert.isAtLeast((yield* changes).length, 6)
      assert.isAtMost((yield* changes).length, 12)
      const all = yield* Emulator.requests
      assert.isFalse(all.some(({ endpoint, status = 0 }) => status >= 400 || endpoint === "Chats.sendAction"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows the address of a link, which a comment cannot have", () =>
    Effect.gen(function* () {
      const source =
        "Read **[the page](https://example.com/a?b=1&c)** or https://example.com now. [https://b.example](https://b.example)"
      const { ann, bot, post, texts } = yield* commenting((update) =>
        LiveMessage.reply(update, ticking(source.match(/[\s\S]{1,7}/g)!, 100))
      )
      yield* withBot(bot, Effect.andThen(ann.comment(post, "Tell me"), seconds(5)))
      assert.deepStrictEqual(yield* texts, [
        "Read the page (https://example.com/a?b=1&c) or https://example.com now. https://b.example"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes on in a new comment beyond 4000 characters", () =>
    Effect.gen(function* () {
      const source = Array.from(
        { length: 150 },
        (_, index) => `Sentence ${index} has [a link](https://e.example/${index}). `
      )
      const { ann, bot, post, texts } = yield* commenting((update) => LiveMessage.reply(update, ticking(source, 50)))
      yield* withBot(bot, Effect.andThen(ann.comment(post, "Tell me"), seconds(20)))
      const parts = yield* texts
      assert.isAtLeast(parts.length, 2)
      for (const text of parts) assert.isTrue(text.trimEnd().endsWith(")."), text.slice(-20))
      const expected = source.join("").replace(/\[a link\]\((.*?)\)/g, "a link ($1)")
      assert.strictEqual(parts.map((text) => text.trim()).join(" "), expected.trim())
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["replace", ["replaced", "completed"]],
    ["queue", ["completed", "completed"]]
  ] as const)("with onNextMessage %s, treats the next comment on the post as documented", ([onNextMessage, expected]) =>
    Effect.gen(function* () {
      const { ann, bot, outcomes, post } = yield* commenting((update) =>
        LiveMessage.reply(update, ticking(words(30), 100), { onNextMessage })
      )
      yield* withBot(
        bot,
        Effect.gen(function* () {
          yield* ann.comment(post, "one")
          yield* seconds(1)
          yield* ann.comment(post, "two")
          yield* seconds(9)
        })
      )
      assert.deepStrictEqual(outcomes, [...expected])
    }).pipe(Effect.provide(layer))
  )

  it.effect("ends when the comment is removed", () =>
    Effect.gen(function* () {
      const { ann, bot, ofBot, outcomes, post } = yield* commenting((update) =>
        LiveMessage.reply(update, ticking(words(300), 100))
      )
      yield* withBot(
        bot,
        Effect.gen(function* () {
          yield* ann.comment(post, "Tell me")
          yield* seconds(2)
          yield* ann.removeComment((yield* ofBot)[0]!)
          yield* seconds(2)
        })
      )
      assert.deepStrictEqual(outcomes, ["removed"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes on in the same comment when the handler is tried again", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const { ann, bot, post, texts } = yield* commenting((update) =>
        LiveMessage.reply(update, (said) => {
          asked.push(said)
          const rest = ticking(words(20).slice(said.split(" ").length - 1), 100)
          return asked.length === 1 ? Stream.concat(Stream.take(rest, 10), Stream.fail("broken")) : rest
        })
      )
      yield* withBot(
        bot,
        Effect.gen(function* () {
          yield* ann.comment(post, "Tell me")
          yield* TestClock.adjust(1900)
          assert.deepStrictEqual(yield* texts, [`${words(10).join("")}\n\nThe answer could not be completed.`])
          yield* seconds(9)
        })
      )
      assert.deepStrictEqual(asked, ["", words(10).join("")])
      assert.deepStrictEqual(yield* texts, [words(20).join("")])
    }).pipe(Effect.provide(layer))
  )
})
