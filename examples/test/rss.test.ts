import { Bot, Inbox, LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { parts } from "../src/rss.ts"
import * as Feeds from "../src/services/feeds.ts"

// The clock is the TestClock.
const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const url = "https://news.example/feed.xml"

/** A site with a feed. Other addresses are not found. */
const makeSite = () => {
  const site = { titles: ["First"], isUp: true, requests: 0 }
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      site.requests++
      const items = site.titles.map(
        (title) =>
          `<item><guid>${title}</guid><title>${title} &amp; more</title><link>https://news.example/${title}</link></item>`
      )
      const found = site.isUp && request.url === url
      const body = found
        ? `<rss version="2.0"><channel><title>News</title>${items.join("")}</channel></rss>`
        : "Not a feed"
      return HttpClientResponse.fromWeb(request, new Response(body, { status: site.isUp ? 200 : 503 }))
    })
  )
  const feeds = Layer.provide(Feeds.layer, Layer.succeed(HttpClient.HttpClient, client))
  return { site, running: Effect.provide(Bot.run(parts), feeds) }
}

/** A person whose dialog with the bot is open. */
const open = Effect.fnUntraced(function* (name: string) {
  const person = yield* Emulator.user(name)
  yield* person.start()
  assert.strictEqual((yield* person.reply).body?.text, "Send /follow and the address of a feed.")
  return person
})

const minutes = (count: number) => Effect.repeat(TestClock.adjust("1 minute"), { times: count - 1 })

describe("the RSS bot", () => {
  it.effect("sends each new entry once to each chat, the oldest first, with one request for all chats", () =>
    Effect.gen(function* () {
      const { running, site } = makeSite()
      yield* Effect.forkScoped(running)
      const ann = yield* open("Ann")
      const ben = yield* open("Ben")
      for (const person of [ann, ben]) {
        yield* person.send(`/follow ${url}`)
        assert.strictEqual((yield* person.reply).body?.text, `I will send the new entries of ${url}.`)
      }
      assert.strictEqual(site.requests, 1)
      yield* minutes(11)
      assert.strictEqual(site.requests, 2)
      assert.deepStrictEqual(yield* ann.unread, [])
      site.titles = ["Third", "Second", "First"]
      yield* minutes(10)
      for (const person of [ann, ben]) {
        assert.strictEqual((yield* person.reply).body?.text, "Second & more")
        assert.strictEqual((yield* person.reply).body?.text, "Third & more")
      }
      yield* minutes(20)
      assert.deepStrictEqual(yield* ann.unread, [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("continues after the site was down, ends with /unfollow, and ends in the dialog of who stops the bot", () =>
    Effect.gen(function* () {
      const { running, site } = makeSite()
      yield* Effect.forkScoped(running)
      const ann = yield* open("Ann")
      const ben = yield* open("Ben")
      for (const person of [ann, ben]) {
        yield* person.send(`/follow ${url}`)
        yield* person.reply
      }
      site.isUp = false
      site.titles = ["Second", "First"]
      yield* minutes(20)
      site.isUp = true
      yield* ben.stop
      yield* minutes(11)
      assert.strictEqual((yield* ann.reply).body?.text, "Second & more")
      yield* ann.send("/unfollow")
      assert.strictEqual((yield* ann.reply).body?.text, "I will send nothing more.")
      site.titles = ["Third", "Second", "First"]
      const { requests } = site
      yield* minutes(20)
      assert.strictEqual(site.requests, requests)
      assert.deepStrictEqual(yield* ann.unread, [])
      const { deadLetters, queued } = yield* Inbox.Inbox.use(({ stats }) => stats)
      assert.deepStrictEqual([deadLetters, queued], [0, 0])
    }).pipe(Effect.provide(platform))
  )

  it.effect("says that an address is missing, has no feed, or is in the network of the bot", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(makeSite().running)
      const ann = yield* open("Ann")
      yield* ann.send("/follow")
      assert.strictEqual((yield* ann.reply).body?.text, "<url> is missing. Usage: /follow <url>")
      yield* ann.send("/follow https://news.example/about")
      assert.match((yield* ann.reply).body?.text ?? "", /^The feed https:\/\/news\.example\/about cannot be read: /)
      yield* ann.send("/follow http://127.0.0.1/feed.xml")
      assert.strictEqual(
        (yield* ann.reply).body?.text,
        "The feed http://127.0.0.1/feed.xml cannot be read: 127.0.0.1 is not on the public internet"
      )
    }).pipe(Effect.provide(platform))
  )
})
