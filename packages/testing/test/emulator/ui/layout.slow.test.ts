/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { isSkipped, openPage } from "../../support/browser.ts"
import { contrastOf } from "../../support/contrast.ts"
import type { Json } from "../../support/control.ts"
import { type PageEmulator, startEmulator } from "../../support/pageEmulator.ts"

let emulator: PageEmulator

beforeAll(async () => {
  if (!isSkipped) emulator = await startEmulator()
})

afterAll(() => emulator?.stop())

const bubble = (page: Page, text: string) => page.locator("article.message", { hasText: text }).last()

/** Creates a dialog with messages of both sides. */
const seed = async (count = 0) => {
  await emulator.post("/reset")
  const messages = Array.from({ length: count }, (_, index) => ({
    ...(index % 2 === 0 ? { user_id: 1 } : {}),
    text: `Message ${index}${" and more".repeat(index % 9)}`
  }))
  await emulator.post("/seed", {
    users: [
      { user_id: 1, first_name: "Ann" },
      { user_id: 2, first_name: "Ben" }
    ],
    chats: [
      { type: "dialog", chat_id: 6, members: [1], messages: [...messages, { text: "Last message" }] },
      { type: "chat", chat_id: -7, title: "Friends", members: [1, 2] }
    ],
    silent: true
  })
}

/** The parts of the page that are wider than the page. */
const tooWide = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll("*")]
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => `${element.tagName}.${element.className}`)
  )

describe.skipIf(isSkipped)("the page", () => {
  it.each([
    [360, "light"],
    [360, "dark"],
    [800, "light"],
    [1024, "light"],
    [1280, "dark"]
  ] as const)("fits a window of %d px with %s colors, in every view", async (width, colorScheme) => {
    await seed(30)
    const { page, problems } = await openPage(emulator.url, { viewport: { width, height: 700 }, colorScheme })
    assert.deepStrictEqual(await tooWide(page), [])
    await page.getByRole("button", { name: /Last message/ }).click()
    await bubble(page, "Last message").waitFor()
    assert.deepStrictEqual(await tooWide(page), [])
    for (const selector of [".own .text", ".message:not(.own) .text", ".meta time", ".chat-title small"]) {
      assert.isAtLeast(await contrastOf(page.locator(selector).first()), 4.5, selector)
    }
    if (width === 360) await page.getByRole("button", { name: "Tools" }).click()
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click()
      assert.deepStrictEqual(await tooWide(page), [])
    }
    assert.deepStrictEqual(problems, [])
  })

  it.each([360, 1280])("opens the menu of every message inside of the list at %d px", async (width) => {
    await seed(6)
    const { page } = await openPage(emulator.url, { viewport: { width, height: 700 } })
    await page.getByRole("button", { name: /Last message/ }).click()
    await bubble(page, "Last message").waitFor()
    for (const message of await page.locator("article.message").all()) {
      await message.focus()
      await page.keyboard.press("Enter")
      const menu = page.getByRole("menu", { name: "Message" })
      await menu.waitFor()
      const [inner, outer] = [(await menu.boundingBox())!, (await page.locator(".messages").boundingBox())!]
      assert.isAtLeast(inner.x, outer.x)
      assert.isAtLeast(inner.y, outer.y)
      assert.isAtMost(inner.x + inner.width, outer.x + outer.width)
      assert.isAtMost(inner.y + inner.height, outer.y + outer.height)
      await page.keyboard.press("Escape")
    }
  })

  it("shows a tool from its beginning, whatever the position of the tool before", async () => {
    await seed(30)
    const { page } = await openPage(emulator.url, { viewport: { width: 1000, height: 400 } })
    await page.getByRole("tab", { name: "Faults" }).click()
    await page.getByText("Another fault").click()
    await page.locator(".tool").evaluate((tool) => tool.scrollTo(0, 1e6))
    assert.isAbove(await page.locator(".tool").evaluate(({ scrollTop }) => scrollTop), 0)
    await page.getByRole("tab", { name: "People" }).click()
    assert.strictEqual(await page.locator(".tool").evaluate(({ scrollTop }) => scrollTop), 0)
  })

  it("is used by the keyboard alone", async () => {
    await seed()
    const { page } = await openPage(emulator.url)
    const focused = () =>
      page.evaluate(() => (document.activeElement === document.body ? "" : (document.activeElement?.textContent ?? "")))
    // The focus moves after the page has been drawn again.
    const untilFocused = (text: string) =>
      page.waitForFunction(
        (text) => document.activeElement !== document.body && document.activeElement?.textContent?.includes(text),
        text
      )
    const tabTo = async (text: string) => {
      for (let i = 0; i < 60 && !(await focused()).includes(text); i++) await page.keyboard.press("Tab")
      assert.include(await focused(), text)
    }
    await tabTo("Friends")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    await untilFocused("Friends")
    await page.keyboard.press("Enter")
    // The field of the opened chat has the focus.
    await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA")
    await page.keyboard.type("typed")
    await page.keyboard.press("Enter")
    await bubble(page, "typed").waitFor()
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("ArrowUp")
    await untilFocused("typed")
    await page.keyboard.press("Enter")
    await untilFocused("Reply")
    await page.keyboard.press("Escape")
    await untilFocused("typed")
    await tabTo("Timeline")
    await page.keyboard.press("ArrowRight")
    await untilFocused("Requests")
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)
    assert.strictEqual(outline, "solid")
  })

  it("remembers the chosen colors", async () => {
    await seed()
    const { page } = await openPage(emulator.url, { colorScheme: "light" })
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await background()
    await page.getByRole("button", { name: "Colors: auto" }).click()
    const dark = await background()
    assert.notStrictEqual(dark, light)
    await page.reload()
    await page.waitForSelector(".person-picker")
    assert.strictEqual(await background(), dark)
  })

  it("scrolls 10,000 messages, and renders only those near the screen", async () => {
    await seed(10_000)
    const { page } = await openPage(emulator.url)
    await page.getByRole("button", { name: /Last message/ }).click()
    await bubble(page, "Last message").waitFor()
    const rendered = () => page.locator("article.message").count()
    assert.isBelow(await rendered(), 400)
    // Each step is one frame, as the wheel of a mouse makes them. A long frame is one that a person sees as a stutter.
    const long = await page.evaluate(async () => {
      const list = document.querySelector(".messages")!
      const frames: Array<number> = []
      let last = await new Promise<number>(requestAnimationFrame)
      for (let i = 0; i < 300; i++) {
        list.scrollTop -= 400
        const now = await new Promise<number>(requestAnimationFrame)
        frames.push(now - last)
        last = now
      }
      return frames.toSorted((a, b) => a - b)[Math.floor(frames.length / 2)]
    })
    assert.isBelow(long, 100)
    assert.isBelow(await rendered(), 800)
    await page.evaluate(() => document.querySelector(".messages")!.scrollTo(0, 0))
    await bubble(page, "Message 0").waitFor()
    assert.isBelow(await rendered(), 800)
    await page.getByRole("button", { name: "Go to the newest message" }).click()
    await emulator.asBot("POST", "/messages?user_id=1", { text: "After the scroll" })
    await bubble(page, "After the scroll").waitFor()
    assert.isTrue(await bubble(page, "After the scroll").isVisible())
  })

  it("loads nothing from elsewhere, and runs no script but its own", async () => {
    await seed()
    const response = await fetch(`${emulator.url}/_emulator/ui`)
    const policy = response.headers.get("content-security-policy") ?? ""
    assert.include(policy, "default-src 'self'")
    // Mini apps of any site are in frames.
    assert.include(policy, "frame-src http: https:")
    assert.notMatch(policy.replace("frame-src http: https:", ""), /unsafe|https?:|data:|\*/)
    const html = await response.text()
    assert.notMatch(html, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?:\/\//i)
    const { page } = await openPage(emulator.url)
    const ran = await page.evaluate(() => {
      const script = document.createElement("script")
      script.textContent = "globalThis.intruder = true"
      document.body.append(script)
      return "intruder" in globalThis
    })
    assert.isFalse(ran)
  })

  it("says that the connection is lost, and continues with the missed events", async () => {
    const other = await startEmulator()
    const { user_id } = await other.post("/users", { first_name: "Ann" })
    const { page } = await openPage(other.url)
    await page.context().setOffline(true)
    await other.post("/messages", { user_id, text: "while offline" })
    await page.context().setOffline(false)
    await page.locator(".chat-row", { hasText: "while offline" }).click()
    await bubble(page, "while offline").waitFor()
    await other.stop()
    await page.locator(".lost").waitFor()
    assert.include((await page.locator(".lost").textContent()) ?? "", "Connection lost")
  })

  it("shows a new person also if the emulator could not be reached when the page asked for the state", async () => {
    await seed()
    const { page } = await openPage(emulator.url)
    let refused = 0
    await page.route("**/_emulator/state", (route) => (refused++ === 0 ? route.abort() : route.continue()))
    await emulator.post("/users", { first_name: "Chiara" })
    await page.waitForFunction(() => document.querySelector(".person-picker")?.textContent?.includes("Chiara"))
    assert.isAbove(refused, 1)
  })

  it("keeps the parts of the top bar apart at 360 px, when the connection is lost, the clock stopped and a fault set", async () => {
    const other = await startEmulator()
    await other.post("/clock", { running: false })
    await other.put("/faults", [{ status: 503 }])
    const { page } = await openPage(other.url, { viewport: { width: 360, height: 700 } })
    await page.locator(".fault-chip").waitFor()
    await other.stop()
    await page.locator(".lost").waitFor()
    assert.deepStrictEqual(await tooWide(page), [])
    const overflowing = await page
      .locator(".top-bar > button")
      .evaluateAll((buttons) =>
        buttons
          .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent)
      )
    assert.deepStrictEqual(overflowing, [])
  })

  it("shows the members whom a bot sees, after every change", async () => {
    await seed()
    const { page } = await openPage(emulator.url)
    await page
      .getByRole("button", { name: /Friends/ })
      .first()
      .click()
    await page.locator(".chat-title", { hasText: "group, 3 members" }).waitFor()
    await emulator.post("/leave", { user_id: 2, chat_id: -7 })
    await page.locator(".chat-title", { hasText: "group, 2 members" }).waitFor()
    const { chats } = await emulator.get("/state")
    assert.strictEqual(chats.find(({ chat }: Json) => chat.chat_id === -7).members.length, 2)
  })
})
