/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
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
  if (folder !== undefined)
    for (const path of [folder, `${folder}.test.ts`]) rmSync(path, { recursive: true, force: true })
})

const bubble = (page: Page, text: string) => page.locator("article.message", { hasText: text }).last()

/** Compiles a test with the options of the tests of the examples. */
const compile = (path: string) => {
  const config = join(folder, "tsconfig.json")
  const compilerOptions = {
    composite: false,
    incremental: false,
    noEmit: true,
    emitDeclarationOnly: false,
    rootDir: root
  }
  const extended = join(root, "examples/tsconfig.json")
  writeFileSync(
    config,
    JSON.stringify({
      extends: extended,
      compilerOptions,
      include: [path, join(root, "packages/node/src/**/*.d.ts")],
      references: []
    })
  )
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  return spawnSync(process.execPath, [tsc, "-p", config], { cwd: root, encoding: "utf8" })
}

/** Runs a test file as it is. */
const runTest = (path: string) => {
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
    await page.getByLabel("Name of the test").fill(basename(folder))
    await page.getByRole("button", { name: "Save into test/" }).click()
    await page.locator(".toast", { hasText: "The test is saved as" }).waitFor()
    const saved = `${folder}.test.ts`
    assert.strictEqual(readFileSync(saved, "utf8"), text)
    for (const part of ["ann.start()", "ann.press(reply", '"As you like, Ann"', `from "../src/echo.ts"`])
      assert.include(text, part)
    const compiled = compile(saved)
    assert.strictEqual(compiled.status, 0, compiled.stdout)
    const passed = runTest(saved)
    assert.strictEqual(passed.status, 0, `${text}\n${passed.stdout}\n${passed.stderr}`)
    writeFileSync(saved, text.replace("As you like, Ann", "As you wish, Ann"))
    const failed = runTest(saved)
    assert.notStrictEqual(failed.status, 0)
    assert.include(failed.stdout + failed.stderr, "As you wish, Ann")
  })
})
