/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Page } from "playwright-core"
import { isSkipped, openPage } from "../../support/browser.ts"

const root = fileURLToPath(new URL("../../../../..", import.meta.url))

let child: ChildProcess
let url: string
let folder: string

beforeAll(async () => {
  if (isSkipped) return
  folder = mkdtempSync(join(root, "examples/test/copied-"))
  const start = join(root, "examples/src/start.ts")
  child = spawn(process.execPath, ["--conditions=source", start, "--open"], {
    env: { ...process.env, PATH: "", USER: "Ann" }
  })
  url = await new Promise((resolve, reject) => {
    let shown = ""
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      shown += text
      const [, found] = /(http:\/\/\S+?)\/_emulator\/ui/.exec(shown) ?? []
      if (found !== undefined) resolve(found)
    })
    child.on("close", () => reject(new Error("npm start ended")))
  })
})

afterAll(() => {
  child?.kill()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

const bubble = (page: Page, text: string) => page.locator("article.message", { hasText: text }).last()

/** Runs a test file as it is. */
const runTest = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  const config = join(root, "vitest.workspace.ts")
  const args = [vitest, "run", "--config", config, "--project", "examples", "--coverage.enabled=false", path]
  return spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } })
}

describe.skipIf(isSkipped)("copy as test", () => {
  it("writes a test of the conversation that passes, and that fails if the bot answers something else", async () => {
    const { page } = await openPage(url, { permissions: ["clipboard-read", "clipboard-write"] })
    await page.getByRole("button", { name: "Start", exact: true }).click()
    await bubble(page, "Hello, Ann!").waitFor()
    const write = async (text: string) => {
      await page.getByRole("textbox", { name: "Message" }).fill(text)
      await page.keyboard.press("Enter")
    }
    await write('good **morning** with "quotes" and a \\ backslash')
    await page.locator("article.message:not(.own)", { hasText: "backslash" }).waitFor()
    await page.getByRole("button", { name: "Louder" }).click()
    await bubble(page, "GOOD MORNING").waitFor()
    await page.locator(".notification", { hasText: "As you like, Ann" }).waitFor()
    await write("and again")
    await page.locator("article.message:not(.own)", { hasText: "and again" }).waitFor()
    await page.getByRole("button", { name: "Copy as test" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Copy", exact: true }).click()
    await page.locator(".toast", { hasText: "copied" }).waitFor()
    const text = await page.evaluate(() => navigator.clipboard.readText())
    for (const part of ["ann.start()", "ann.press(reply", '"As you like, Ann"', "echo.ts"]) assert.include(text, part)
    const passed = runTest("conversation.test.ts", text)
    assert.strictEqual(passed.status, 0, `${text}\n${passed.stdout}\n${passed.stderr}`)
    const failed = runTest("other.test.ts", text.replace("As you like, Ann", "As you wish, Ann"))
    assert.notStrictEqual(failed.status, 0)
    assert.include(failed.stdout + failed.stderr, "As you wish, Ann")
  })
})
