/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { violationsOf } from "../../support/axe.ts"
import { isSkipped, openPage } from "../../support/browser.ts"
import { type PageEmulator, startEmulator } from "../../support/pageEmulator.ts"

let emulator: PageEmulator

beforeAll(async () => {
  if (!isSkipped) emulator = await startEmulator({ limits: {}, insecureWebhooks: true })
})

afterAll(() => emulator?.stop())

const keyboard = {
  type: "inline_keyboard",
  payload: {
    buttons: [
      [{ type: "callback", text: "Yes", payload: "yes" }],
      [{ type: "link", text: "Site", url: "https://example.com" }],
      [{ type: "open_app", text: "App", web_app: "https://app.example" }]
    ]
  }
}

const seed = async () => {
  await emulator.post("/reset")
  await emulator.post("/seed", {
    users: [
      { user_id: 1, first_name: "Ann", username: "ann" },
      { user_id: 2, first_name: "Ben" }
    ],
    chats: [
      { type: "dialog", chat_id: 6, members: [1] },
      {
        type: "chat",
        chat_id: -7,
        title: "Friends",
        members: [1, 2],
        bot: { admin: true },
        messages: [
          { user_id: 1, text: "See https://example.com, /help and @ann" },
          { user_id: 2, text: "**Bold** `code`\n> quote", format: "markdown" },
          { user_id: 2, attachments: [{ type: "image", payload: { url: "https://example.com/cat.png" } }] },
          { user_id: 1, attachments: [{ type: "video", width: 640, height: 360, duration: 61 }] },
          { user_id: 1, attachments: [{ type: "audio", transcription: "hello" }] },
          { user_id: 1, attachments: [{ type: "file", filename: "report.pdf", size: 2048 }] },
          { user_id: 1, attachments: [{ type: "sticker", payload: { code: "wave", url: "" }, width: 1, height: 1 }] },
          { user_id: 1, attachments: [{ type: "location", latitude: 1.5, longitude: -2.25 }] },
          { user_id: 2, attachments: [{ type: "share", payload: { url: "https://example.com/story" } }] },
          { text: "Choose", attachments: [keyboard] }
        ],
        pinned: 0
      },
      {
        type: "channel",
        chat_id: -8,
        title: "News",
        owner_id: 1,
        members: [1, 2],
        bot: { admin: true },
        messages: [{ text: "Version 2", comments: [{ user_id: 2, text: "Great" }] }]
      }
    ],
    silent: true
  })
  await emulator.put("/faults", [{ endpoint: "Messages.send", status: 503, times: 1 }])
  await emulator.asBot("POST", "/messages?chat_id=6", { text: "a" }).catch(() => undefined)
  await emulator.asBot("POST", "/messages?chat_id=6", { text: "Hello" })
  await emulator.post("/messages", { user_id: 1, text: "Hello, Bot" })
}

describe.skipIf(isSkipped)("the page has no violation that axe finds", () => {
  it.each([
    [1280, "light"],
    [1024, "dark"],
    [360, "light"],
    [360, "dark"]
  ] as const)("on any screen, at %d px with %s colors", async (width, colorScheme) => {
    await seed()
    const { page } = await openPage(emulator.url, { viewport: { width, height: 700 }, colorScheme })
    const isNarrow = width === 360
    const check = async (screen: string) => assert.deepStrictEqual(await violationsOf(page), [], screen)
    const back = async (name: string) => {
      if (isNarrow) await page.getByRole("button", { name }).click()
    }
    await check("the list of chats")
    await page.getByRole("button", { name: /News/ }).first().click()
    await page.getByRole("button", { name: "1 comment" }).click()
    await page.locator(".comment").waitFor()
    await check("comments")
    await page.getByRole("button", { name: "Back to the channel" }).click()
    await back("Back to the chats")
    await page
      .getByRole("button", { name: /Friends/ })
      .first()
      .click()
    await page.locator(".pinned").waitFor()
    await check("a group")
    // A dialog that closes moves the focus afterwards, so the key can reach another element.
    const openMenu = () =>
      vi.waitFor(
        async () => {
          await page.locator("article.message", { hasText: "See https" }).press("Enter")
          await page.getByRole("menu").waitFor({ timeout: 5000 })
        },
        { timeout: 60_000 }
      )
    await openMenu()
    await check("the menu of a message")
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Chat menu" }).click()
    await page.getByRole("menuitem", { name: "Members and rights" }).click()
    await check("members")
    await page.getByRole("button", { name: "Close", exact: true }).click()
    await page.getByRole("button", { name: "Chat menu" }).click()
    await page.getByRole("menuitem", { name: "Copy as test" }).click()
    await check("copy as test")
    await page.getByRole("button", { name: "Close", exact: true }).click()
    for (const dialog of ["Contact", "Place"]) {
      await page.getByRole("button", { name: "Attach" }).click()
      await page.getByRole("menuitem", { name: dialog }).click()
      await page.getByRole("dialog").waitFor()
      await check(`the dialog ${dialog}`)
      await page.getByRole("button", { name: "Close", exact: true }).click()
    }
    await openMenu()
    await page.getByRole("menuitem", { name: "Forward" }).click()
    await page.getByRole("dialog").waitFor()
    await check("the dialog to forward a message")
    await page.getByRole("button", { name: "Close", exact: true }).click()
    if (isNarrow) await page.getByRole("button", { name: "Tools" }).click()
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click()
      await page
        .locator(".log-head")
        .first()
        .click({ timeout: 500 })
        .catch(() => undefined)
      await check(`the tool ${await tab.textContent()}`)
    }
    if (!isNarrow) {
      await page.getByRole("button", { name: "Two people side by side" }).click()
      await check("two people")
    }
  })

  it.each(["light", "dark"] as const)("before a person and before the start, with %s colors", async (colorScheme) => {
    await emulator.post("/reset")
    const { page } = await openPage(emulator.url, { colorScheme })
    await page.getByLabel("Who talks to the bot?").waitFor()
    assert.deepStrictEqual(await violationsOf(page), [])
    await page.getByRole("button", { name: "Create the person" }).first().click()
    await page.getByText("with a payload…").click()
    assert.deepStrictEqual(await violationsOf(page), [])
  })
})
