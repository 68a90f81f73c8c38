/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { isSkipped, openPage } from "../../support/browser.ts"
import { type PageEmulator, startEmulator, until } from "../../support/pageEmulator.ts"

let emulator: PageEmulator

beforeAll(async () => {
  if (!isSkipped) emulator = await startEmulator()
})

afterAll(() => emulator?.stop())

const bubble = (page: Page, text: string) => page.locator("article.message", { hasText: text }).last()

const toEnd = (page: Page) => page.getByRole("button", { name: "Go to the newest message" })

/** A dialog that is longer than the screen, which the page opens by itself. */
const openLong = async (messages: ReadonlyArray<object> = []) => {
  await emulator.post("/reset")
  const filling = Array.from({ length: 60 }, (_, index) => ({ user_id: 1, text: `Message ${index}` }))
  await emulator.post("/seed", {
    users: [{ user_id: 1, first_name: "Ann", username: "ann" }],
    chats: [{ type: "dialog", chat_id: 6, members: [1], messages: [...filling, ...messages] }],
    silent: true
  })
  const { page, problems } = await openPage(emulator.url)
  await bubble(page, "Message 59").waitFor()
  return { page, problems, say: (text: string) => emulator.asBot("POST", "/messages?chat_id=6", { text }) }
}

/** A file of silence that browsers play. */
const silence = (seconds: number): Buffer => {
  const rate = 8000
  const file = Buffer.alloc(44 + rate * seconds, 128)
  file.write("RIFF")
  file.writeUInt32LE(file.length - 8, 4)
  file.write("WAVEfmt ", 8)
  // The length of the format, PCM with one channel, the rates, and 8 bits in blocks of one byte.
  for (const [index, value] of [16, 0x10001, rate, rate, 0x80001].entries()) file.writeUInt32LE(value, 16 + 4 * index)
  file.write("data", 36)
  file.writeUInt32LE(file.length - 44, 40)
  return file
}

const scrollToTop = async (page: Page) => {
  await page.locator(".messages").evaluate((list) => list.scrollTo(0, 0))
  await toEnd(page).waitFor()
}

describe.skipIf(isSkipped)("the messages of the page", () => {
  it("scroll to a message that the person sends", async () => {
    const { page, problems } = await openLong()
    await scrollToTop(page)
    await page.getByRole("textbox", { name: "Message" }).fill("Here I am")
    await page.keyboard.press("Enter")
    await bubble(page, "Here I am").waitFor()
    await toEnd(page).waitFor({ state: "detached" })
    assert.deepStrictEqual(problems, [])
  })

  it("count the messages that arrive below the visible ones, until the person goes there", async () => {
    const { page, say } = await openLong()
    await scrollToTop(page)
    await say("One")
    await say("Two")
    await page.getByRole("button", { name: "Go to the newest message, 2 new" }).click()
    await toEnd(page).waitFor({ state: "detached" })
    await scrollToTop(page)
    assert.strictEqual(await toEnd(page).getAttribute("aria-label"), "Go to the newest message")
  })

  it("have a line where a message was pinned, which leads to the message", async () => {
    const { page } = await openLong()
    const { messages } = await emulator.get("/chats/6/messages")
    await emulator.asBot("PUT", "/chats/6/pin", { message_id: messages[0].body.mid })
    await page.locator(".service", { hasText: "Bot pinned a message" }).click()
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("Message 0"))
    await page.reload()
    await page.locator(".service", { hasText: "Bot pinned a message" }).waitFor()
    assert.strictEqual(await page.locator(".service", { hasText: "pinned" }).count(), 1)
    await emulator.asBot("DELETE", "/chats/6/pin")
    await page.locator(".service", { hasText: "Bot removed the pin" }).waitFor()
  })

  it("have links, commands and names that work, but not in code", async () => {
    const { page, problems } = await openLong([
      { text: "See https://example.com/a?b=1, send /help or ask @ann. Mail a@b.example/help" },
      { text: "<code>/never\nhttps://example.com</code>", format: "html" }
    ])
    const shown = bubble(page, "See https")
    assert.deepStrictEqual(await shown.locator("a").evaluateAll((links) => links.map((link) => link.textContent)), [
      "https://example.com/a?b=1"
    ])
    assert.deepStrictEqual(await shown.locator(".mention").allTextContents(), ["/help", "@ann"])
    await shown.getByRole("button", { name: "/help" }).click()
    const sent = await until(async () => {
      const { messages } = await emulator.get("/chats/6/messages")
      return messages.at(-1).body.text === "/help" ? messages.at(-1) : undefined
    })
    assert.strictEqual(sent.sender.user_id, 1)
    await shown.getByRole("button", { name: "@ann" }).click()
    await page.getByRole("tab", { name: "People", selected: true }).waitFor()
    const code = bubble(page, "/never").locator("code")
    assert.strictEqual(await code.locator("a, button").count(), 0)
    // One box contains both lines.
    assert.strictEqual(await code.evaluate((element) => element.getClientRects().length), 1)
    assert.deepStrictEqual(problems, [])
  })

  it("have names in the colors of their authors in a group", async () => {
    await emulator.post("/reset")
    await emulator.post("/seed", {
      users: [1, 2, 3].map((user_id) => ({ user_id, first_name: `Person ${user_id}` })),
      chats: [
        {
          type: "chat",
          chat_id: -7,
          title: "Friends",
          members: [1, 2, 3],
          messages: [
            { user_id: 2, text: "two" },
            { user_id: 3, text: "three" }
          ]
        }
      ],
      silent: true
    })
    const { page } = await openPage(emulator.url)
    await page.getByRole("button", { name: /Friends/ }).click()
    await bubble(page, "three").waitFor()
    const colors = await page
      .locator(".author")
      .evaluateAll((names) => names.map((name) => getComputedStyle(name).color))
    assert.strictEqual(new Set(colors).size, 2)
  })

  it("show the player, the name and the size of audio that the emulator has", async () => {
    const { page, problems } = await openLong()
    const seconds = 2
    const content = silence(seconds).toString("base64")
    const { token } = await emulator.post("/media", { type: "audio", filename: "voice.wav", content })
    await emulator.post("/messages", { user_id: 1, attachments: [{ type: "audio", payload: { token } }] })
    await page.locator(".media", { hasText: "voice.wav · 15.7 KB" }).waitFor()
    await page.waitForFunction((seconds) => document.querySelector("audio")?.duration === seconds, seconds)
    const video = await emulator.post("/media", { type: "video", filename: "trip.mp4", size: 3_000_000 })
    await emulator.post("/messages", { user_id: 1, attachments: [{ type: "video", payload: { token: video.token } }] })
    await page.locator(".media", { hasText: "trip.mp4 · 2.9 MB" }).waitFor()
    assert.strictEqual(await page.locator("video").count(), 0)
    assert.deepStrictEqual(problems, [])
  })

  it("show the address of a share once, and stickers as stickers", async () => {
    const { page } = await openLong()
    const send = (attachment: object) => emulator.post("/messages", { user_id: 1, attachments: [attachment] })
    await send({ type: "share", payload: { url: "https://example.com/story" } })
    await send({ type: "sticker", payload: { code: "👋", url: "" }, width: 1, height: 1 })
    await send({ type: "sticker", payload: { code: "wave", url: "" }, width: 1, height: 1 })
    await page.locator(".sticker.named", { hasText: "wave" }).waitFor()
    assert.strictEqual((await page.locator(".share").textContent())?.split("https://example.com/story").length, 2)
    const emoji = page.locator(".sticker:not(.named)")
    assert.isAbove(await emoji.evaluate((sticker) => Number.parseFloat(getComputedStyle(sticker).fontSize)), 40)
  })
})
