/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isSkipped, openPage } from "../../support/browser.ts"
import { hostileTexts } from "../../support/hostileTexts.ts"
import { type PageEmulator, startEmulator } from "../../support/pageEmulator.ts"

let emulator: PageEmulator

beforeAll(async () => {
  if (!isSkipped) emulator = await startEmulator()
})

afterAll(() => emulator?.stop())

describe.skipIf(isSkipped)("hostile texts, names and file names", () => {
  it("run no script and do not break the layout", async () => {
    const texts = hostileTexts(5000)
    const people = texts.slice(0, 300).map((text, index) => ({ user_id: index + 1, first_name: text }))
    const groups = texts.slice(300, 400).map((text, index) => ({
      type: "chat",
      chat_id: -1 - index,
      title: text.slice(0, 200),
      members: [1, index + 2]
    }))
    const rest = texts.slice(400)
    const messages = rest.map((text, index) => {
      switch (index % 4) {
        case 0:
          return { user_id: (index % 300) + 1, text }
        case 1:
          return { user_id: (index % 300) + 1, attachments: [{ type: "file", filename: text, size: index }] }
        case 2:
          return {
            text: "Buttons",
            attachments: [
              {
                type: "inline_keyboard",
                payload: {
                  buttons: [
                    [
                      { type: "callback", text: text.slice(0, 128), payload: text.slice(0, 500) },
                      { type: "callback", text: "b", payload: "b" }
                    ]
                  ]
                }
              }
            ]
          }
        default:
          return { text, format: index % 8 === 3 ? "html" : "markdown" }
      }
    })
    const chat = {
      type: "chat",
      chat_id: -1000,
      title: "Everything",
      members: people.map(({ user_id }) => user_id),
      messages
    }
    await emulator.post("/seed", { users: people, chats: [...groups, chat], silent: true })
    const { page, problems } = await openPage(emulator.url, { viewport: { width: 360, height: 740 } })
    const dialogs: Array<string> = []
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    /** What is outside of the window, and whether a script ran. */
    const check = () =>
      page.evaluate(() => {
        const wide = [...document.querySelectorAll(".app *")]
          .filter((element) => {
            const { height, left, right } = element.getBoundingClientRect()
            const isClipped = element.closest(
              ".tabs, .text, .title, .last, .file-name, .avatar, select, .bubble > *, .key bdi"
            )
            return height > 0 && isClipped === null && (right > innerWidth + 1 || left < -1)
          })
          .map((element) => `${element.tagName}.${element.className}`)
        return { wide, scrolls: document.documentElement.scrollWidth > innerWidth, ran: "hostile" in globalThis }
      })
    const fine = { wide: [], scrolls: false, ran: false }
    assert.deepStrictEqual(await check(), fine)
    await page.getByRole("button", { name: /Everything/ }).click()
    await page.locator("article.message").first().waitFor()
    let shown = 0
    for (let position = 0; ; position += 2500) {
      const { end, height } = await page.evaluate(async (position) => {
        const list = document.querySelector(".messages")!
        list.scrollTop = list.scrollHeight - list.clientHeight - position
        for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame)
        return { end: list.scrollTop <= 0, height: list.scrollHeight }
      }, position)
      assert.deepStrictEqual(await check(), fine, `at ${position} of ${height}`)
      shown = Math.max(shown, await page.locator("article.message").count())
      if (end) break
    }
    assert.isAbove(shown, 40)
    assert.deepStrictEqual(dialogs, [])
    assert.deepStrictEqual(problems, [])
  })
})
