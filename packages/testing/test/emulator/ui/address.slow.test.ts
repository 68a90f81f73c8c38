/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isSkipped, openPage } from "../../support/browser.ts"
import { type PageEmulator, startEmulator } from "../../support/pageEmulator.ts"

let emulator: PageEmulator

beforeAll(async () => {
  if (isSkipped) return
  emulator = await startEmulator()
  await emulator.post("/seed", {
    users: [
      { user_id: 1, first_name: "Ann" },
      { user_id: 2, first_name: "Ben" }
    ],
    chats: [
      { type: "dialog", chat_id: 6, members: [1] },
      { type: "chat", chat_id: -7, title: "Friends", members: [1, 2] }
    ],
    silent: true
  })
})

afterAll(() => emulator?.stop())

describe.skipIf(isSkipped)("the address of the page", () => {
  it("keeps the people, chats, drafts and the tool of both panes through a reload, and in another window", async () => {
    const { page, problems } = await openPage(emulator.url)
    await page.getByRole("button", { name: "Two people side by side" }).click()
    const [left, right] = [page.locator(".pane").first(), page.locator(".pane").last()]
    await left.getByRole("button", { name: /Friends/ }).click()
    await left.getByRole("textbox", { name: "Message" }).fill("from *Ann* & co")
    await right.getByRole("button", { name: /Friends/ }).click()
    await right.getByRole("textbox", { name: "Message" }).fill("from Ben")
    await page.getByRole("tab", { name: "Faults" }).click()
    const expectSame = async (shown: typeof page) => {
      const [left, right] = [shown.locator(".pane").first(), shown.locator(".pane").last()]
      await left.locator(".chat-title", { hasText: "Friends" }).waitFor()
      await right.locator(".chat-title", { hasText: "Friends" }).waitFor()
      const values = (name: string) =>
        shown.locator(name).evaluateAll((fields) => fields.map((field) => (field as HTMLSelectElement).value))
      assert.deepStrictEqual(await values(".person-picker select"), ["1", "2"])
      assert.deepStrictEqual(await values("textarea"), ["from *Ann* & co", "from Ben"])
      await shown.getByRole("tab", { name: "Faults", selected: true }).waitFor()
    }
    await page.reload()
    await expectSame(page)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await expectSame(other)
    assert.deepStrictEqual(problems, [])
  })

  it("of a chat that is gone shows the list of chats", async () => {
    const { page, problems } = await openPage(emulator.url)
    await page.goto(`${emulator.url}/_emulator/ui#person=1&chat=999&tool=nonsense`)
    await page.reload()
    await page.getByText("Choose a chat.").waitFor()
    await page.getByRole("button", { name: /Friends/ }).click()
    assert.include(page.url(), "chat=-7")
    assert.deepStrictEqual(problems, [])
  })

  it("gives the focus to the field of the chat, but not on a touch screen", async () => {
    const { page } = await openPage(emulator.url)
    await page.getByRole("button", { name: /Friends/ }).click()
    await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA")
    const touch = await openPage(emulator.url, { hasTouch: true, isMobile: true })
    await touch.page.getByRole("button", { name: /Friends/ }).click()
    await touch.page.locator(".chat-title", { hasText: "Friends" }).waitFor()
    assert.notStrictEqual(await touch.page.evaluate(() => document.activeElement?.tagName), "TEXTAREA")
  })
})

describe.skipIf(isSkipped)("the first visit to the page", () => {
  it("creates a person, and starts the bot with one button", async () => {
    const other = await startEmulator()
    const { page, problems } = await openPage(other.url)
    await page.getByLabel("Who talks to the bot?").fill("Olga")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Start", exact: true }).click()
    await page.locator(".service", { hasText: "Olga started the bot" }).waitFor()
    await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA")
    const { updates } = await other.get("/updates")
    assert.deepStrictEqual(
      updates.map(({ payload, update_type, user }: Record<string, { readonly first_name: string }>) => [
        update_type,
        user?.first_name,
        payload
      ]),
      [["bot_started", "Olga", undefined]]
    )
    await page.reload()
    await page.locator(".chat-title", { hasText: "Bot" }).waitFor()
    assert.deepStrictEqual(problems, [])
    await other.stop()
  })
})

describe.skipIf(isSkipped)("the widths of the page", () => {
  it("are changed by the pointer and by the arrow keys, and survive a reload", async () => {
    const { page } = await openPage(emulator.url)
    await page.getByRole("tab", { name: "Faults" }).click()
    const width = async (selector: string) => Math.round((await page.locator(selector).first().boundingBox())!.width)
    const before = await width(".sidebar")
    const divider = page.getByRole("separator", { name: "Width of the list of chats" })
    const { height, width: thick, x, y } = (await divider.boundingBox())!
    await page.mouse.move(x + thick / 2, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + thick / 2 + 60, y + height / 2, { steps: 4 })
    await page.mouse.up()
    assert.closeTo(await width(".sidebar"), before + 60, 8)
    await page.getByRole("separator", { name: "Width of the tools" }).focus()
    await page.keyboard.press("Home")
    assert.strictEqual(await width(".tools"), 280)
    await page.keyboard.press("ArrowLeft")
    assert.strictEqual(await width(".tools"), 296)
    await page.reload()
    await page.locator(".tools").waitFor()
    assert.strictEqual(await width(".tools"), 296)
    assert.closeTo(await width(".sidebar"), before + 60, 8)
    await page.getByRole("button", { name: "Two people side by side" }).click()
    await page.getByRole("separator", { name: "Width of the first pane" }).focus()
    const first = await width(".pane")
    await page.keyboard.press("ArrowLeft")
    assert.isBelow(await width(".pane"), first)
  })
})
