/// <reference lib="dom" />
import { MiniApp } from "@colloquy/core"
import { Effect, Redacted } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"
import { launch } from "../../support/browserLaunch.ts"
import { isSkipped } from "../../support/browser.ts"
import { startEmulator } from "../../support/pageEmulator.ts"

/** The page of a mini app, which shows its address. */
const startApp = () =>
  new Promise<{ readonly url: string; readonly stop: () => void }>((resolve) => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" })
      response.end("<p id=shown></p><script>shown.textContent = location.hash.slice(1)</script>")
    }).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resolve({ url: `http://127.0.0.1:${port}/shop`, stop: () => server.close() })
    })
  })

describe.skipIf(isSkipped)("a mini app on the page", () => {
  it("runs in a frame, with init data that the server of the bot accepts", async () => {
    const app = await startApp()
    const emulator = await startEmulator()
    const browser = await launch()
    const { user_id } = await emulator.post("/users", { first_name: "Ann" })
    const { chat_id } = await emulator.post("/start", { user_id })
    const web_app = "https://app.example/shop"
    const attachments = [
      { type: "inline_keyboard", payload: { buttons: [[{ type: "open_app", text: "Shop", web_app }]] } }
    ]
    await emulator.asBot("POST", `/messages?chat_id=${chat_id}`, { text: "Look", attachments })
    const page = await (await browser.newContext()).newPage()
    // The platform accepts only https:// addresses, so the browser is directed to the local server.
    await page.route("https://app.example/**", async (route) =>
      route.fulfill({ response: await route.fetch({ url: app.url }) })
    )
    await page.goto(`${emulator.url}/_emulator/ui`)
    await page.getByRole("button", { name: "Shop" }).click()
    const shown = await page.frameLocator(".mini-app").locator("#shown", { hasText: "WebAppData" }).textContent()
    const initData = new URLSearchParams(shown ?? "").get("WebAppData") ?? ""
    const { chat, user } = await Effect.runPromise(MiniApp.verify(initData, { token: Redacted.make("emulator-token") }))
    assert.deepStrictEqual([chat?.id, user?.id, user?.first_name], [chat_id, user_id, "Ann"])
    await page.getByRole("button", { name: "Close", exact: true }).click()
    assert.strictEqual(await page.locator("iframe").count(), 0)
    await browser.close()
    await emulator.stop()
    app.stop()
  })
})
