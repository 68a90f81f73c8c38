/// <reference lib="dom" />
import { Bot, ChatStore, Command, Conversation, Handler, Inbox, LongPolling, Timer } from "@colloquy/core"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { dirname } from "node:path"
import type { BrowserContextOptions, Page } from "playwright-core"
import { stores as broadcastStores } from "../../../node/test/support/broadcastStores.ts"
import { stores as chatStores } from "../../../node/test/support/chatStores.ts"
import { layerOf } from "../../../node/test/support/inboxLayers.ts"
import { violationsOf } from "../../../testing/test/support/axe.ts"
import { isSkipped, openAddress } from "../../../testing/test/support/browser.ts"
import { fill, makeBot, started } from "../support/bots.ts"
import { run } from "../support/run.ts"

const Order = Conversation.make(
  "order",
  { of: "userInChat", timeout: "10 minutes" },
  Effect.fn(function* (talk) {
    yield* talk.ask("address", { say: "Where to?", read: Schema.String })
  })
)

const bot = Bot.make(
  Command.make("order").on(Order.start),
  Order,
  Handler.on("bot_started", () => Effect.die(new Error("The mistake of a person")))
)

/** A bot with something in each of its stores, and the board of the bot. */
const startBoard = Effect.gen(function* () {
  const { onInbox, place } = yield* makeBot("SQLite")
  const onBot = Layer.mergeAll(
    LongPolling.layer().pipe(
      Layer.provideMerge(Layer.provide(Inbox.layer(), layerOf("SQLite", place))),
      Layer.provideMerge(Emulator.layerBot({ limits: false }))
    ),
    chatStores["SQLite"]!(place)
  )
  yield* Effect.scoped(
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(Bot.run(ChatStore.track(bot), { retry: Schedule.recurs(0) }))
      const person = yield* Emulator.user("Anna")
      const { chat_id } = yield* person.start()
      yield* person.send("/order")
      yield* person.reply
      yield* Timer.make("tea", Schema.String).for({ chat_id }).in("1 hour", "green")
      yield* Effect.repeat(
        Effect.flatMap(Inbox.Inbox, ({ stats }) => stats),
        {
          until: ({ deadLetters, queued }) => deadLetters === 1 && queued === 0,
          schedule: Schedule.spaced("20 millis")
        }
      )
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(onBot))
  )
  yield* onInbox(
    fill(
      [],
      Array.from({ length: 60 }, (_, index) => ({
        text: started(100 + index, index, `Guest with a long name ${"o".repeat(80)}`),
        error: `Error: ${index % 2 === 0 ? "even" : "odd"} ${"x".repeat(200)}\n    at module (bot.ts:1)`
      }))
    )
  )
  const broadcasts = BroadcastStore.BroadcastStore.use((store) =>
    Effect.andThen(
      store.acquireLease({ name: "news of May", owner: "one", leaseDuration: 0, create: true }),
      store.update("news of May", { total: 1000 })
    )
  )
  yield* Effect.scoped(Effect.provide(broadcasts, broadcastStores["SQLite"]!(place)))
  const [lines, errors]: [Array<string>, Array<string>] = [[], []]
  const env = { BOT_INBOX: place }
  yield* Effect.forkScoped(run(["board", "--json"], env, dirname(place), lines, undefined, undefined, errors))
  const [line] = yield* Effect.repeat(
    Effect.sync(() => lines),
    { until: ({ length }) => length > 0, schedule: Schedule.spaced("20 millis") }
  )
  const { url } = JSON.parse(line!) as { readonly url: string }
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/#token=[\da-f]{64}$/)
  return { url, errors }
})

/** Runs a test in the page of a board. The page has no script error, and requests nothing from other hosts. */
const inPage = (
  test: (page: Page, board: Effect.Success<typeof startBoard>) => Promise<void>,
  options?: BrowserContextOptions
) =>
  Effect.gen(function* () {
    const board = yield* startBoard
    yield* Effect.promise(async () => {
      const { page, problems } = await openAddress(board.url, "[role=tab]", options)
      await test(page, board)
      assert.deepStrictEqual(problems, [])
      await page.context().close()
    })
  }).pipe(Effect.scoped)

const open = (page: Page, tab: string) => page.getByRole("tab", { name: tab, exact: true }).click()

const says = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor()

describe.skipIf(isSkipped)("the page of colloquy board", () => {
  it.live.each([
    [1024, "light"],
    [1024, "dark"],
    [360, "light"],
    [360, "dark"]
  ] as const)(
    "has no violation that axe finds, and does not scroll sideways, at %d px with %s colors",
    ([width, colorScheme]) =>
      inPage(
        async (page) => {
          const check = async (screen: string) => {
            assert.deepStrictEqual(await violationsOf(page), [], screen)
            const wide = await page.evaluate(() =>
              [document.documentElement, ...document.querySelectorAll(".tool, .tabs, .top-bar, dialog")]
                .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
                .map(({ className }) => className)
            )
            assert.deepStrictEqual(wide, [], screen)
          }
          for (const [tab, text] of [
            ["Overview", "Processes"],
            ["Updates", "message_created"],
            ["Dead letters", "The mistake of a person"],
            ["Chats", "Anna"],
            ["Conversations", "waits for address"],
            ["Timers", "tea"],
            ["Broadcasts", "news of May"],
            ["Limits", "Waiting calls by priority"]
          ] as const) {
            await open(page, tab)
            await page.getByText(text).first().waitFor()
            await check(tab)
          }
          await open(page, "Dead letters")
          await page.locator(".log-head").first().click()
          await page.getByLabel("Update", { exact: true }).waitFor()
          await check("a dead letter")
          await page.getByRole("button", { name: "Delete…" }).click()
          await check("a question")
        },
        { viewport: { width, height: 700 }, colorScheme }
      )
  )

  it.live("replays and deletes dead letters, says that a list is cut off, and writes each action to the log", () =>
    inPage(async (page, { errors }) => {
      await open(page, "Dead letters")
      await page.getByText("There are more than these 50.").waitFor()
      await page.getByRole("button", { name: "Show more" }).click()
      await page.waitForFunction(() => document.querySelectorAll(".log-row").length === 61)
      assert.strictEqual(await page.getByText("There are more").count(), 0)

      await page.locator(".log-head").first().click()
      await page.getByRole("button", { name: "Replay", exact: true }).click()
      await page.waitForFunction(() => document.querySelectorAll(".log-row").length === 60)
      await page.locator(".log-head").first().click()
      await page.getByRole("button", { name: "Delete…" }).click()
      await page.getByRole("button", { name: "Delete", exact: true }).click()
      await page.waitForFunction(() => document.querySelectorAll(".log-row").length === 59)

      await page.getByLabel("Error contains").fill("even")
      await page.waitForFunction(() => document.querySelectorAll(".log-row").length === 29)
      await page.getByRole("button", { name: "Replay all…" }).click()
      await page.getByLabel("Dead letters a second").fill("1")
      await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click()
      await page.getByRole("progressbar", { name: "Progress of the replay" }).waitFor()
      await page.getByRole("button", { name: "Stop", exact: true }).click()
      await page.getByRole("progressbar", { name: "Progress of the replay" }).waitFor({ state: "detached" })
      await page.getByRole("button", { name: "Replay all…" }).click()
      await page.getByLabel("Dead letters a second").fill("1000")
      await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click()
      await says(page, "There is no dead letter.")
      await page.getByLabel("Error contains").fill("")
      await page.waitForFunction(() => document.querySelectorAll(".log-row").length === 30)

      const actions = errors.map((line) => /Board: (?:the )?(\S+ \S+)/.exec(line)?.[1])
      assert.includeMembers(actions, ["Replayed the", "Deleted the", "Began to", "Stopped the", "replay of"])
      assert.isTrue(
        errors.every((line) => line.includes("INFO")),
        errors.join("\n")
      )
    })
  )

  it.live("pauses the inbox and a broadcast, and shows the updates of a chat", () =>
    inPage(async (page) => {
      await page.getByRole("button", { name: "Pause the inbox" }).click()
      await page.getByText("The inbox is paused: updates are stored, and not handled.").waitFor()
      await page.getByRole("button", { name: "Resume the inbox" }).click()
      await page.getByRole("button", { name: "Pause the inbox" }).waitFor()

      await open(page, "Broadcasts")
      await page.getByRole("button", { name: "pause news of May" }).click()
      await page.getByRole("button", { name: "resume news of May" }).click()
      await page.getByRole("button", { name: "pause news of May" }).waitFor()
      await page.getByText("0 of 1000: 0 sent").waitFor()

      await open(page, "Chats")
      await page.getByRole("button", { name: /^Updates of the chat/ }).click()
      await page.locator(".log-row", { hasText: "Messages.send" }).click()
      await page.getByLabel("Entry of the log").waitFor()
      await page.getByLabel("Outcome").selectOption("dead")
      await page.locator(".log-row", { hasText: "bot_started" }).waitFor()
      await page.getByLabel("Chat", { exact: true }).fill("1")
      await says(page, "The log has no such update.")
    })
  )

  it.live("takes the token from the address, keeps it in the tab, and asks for it if it is wrong", () =>
    inPage(async (page, { url }) => {
      assert.strictEqual(page.url(), url.replace(/#.*/, ""))
      await page.reload()
      await says(page, "Processes")
      assert.deepStrictEqual(await page.context().cookies(), [])

      const other = await page.context().newPage()
      await other.goto(url.replace(/.{4}$/, "----"))
      await says(other, "The token is wrong.")
      assert.strictEqual(await other.getByRole("tab").count(), 0)
      await other.getByLabel("Token of the board").fill(url.replace(/.*=/, ""))
      await other.getByRole("button", { name: "Open" }).click()
      await says(other, "Processes")
    })
  )
})
