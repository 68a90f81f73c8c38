import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { executablePath, launch } from "../packages/testing/test/support/browserLaunch.ts"
import { root, run } from "../scripts/internal/workspace.ts"
import { botOf } from "../site/internal/bots.ts"
import { serveFolder } from "./support/staticServer.ts"

/** The browser test must run in `.ci/run`. */
const withoutBrowser = executablePath === undefined && process.env["BROWSER_TESTS"] !== "required"

let folder = ""

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "site-"))
  const built = run("node", [
    "--conditions=source",
    "site/build.ts",
    "--base",
    "/manual/",
    "--out",
    join(folder, "manual")
  ])
  if (!built.ok) throw new Error(built.output)
}, 600_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The addresses in a page that are relative to it or to its host. */
const targets = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, target]) => target!.replaceAll("&amp;", "&"))

const idsOf = (html: string): ReadonlySet<string> => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!))

describe("the site of the documentation", () => {
  it("has only links to pages, headings and files that exist", () => {
    const paths = globSync("manual/**/*.html", { cwd: folder }).filter(
      (path) => !path.startsWith("manual/emulator/index")
    )
    const pages = new Map(
      paths.map((path) => [`/${path.replaceAll("\\", "/")}`, readFileSync(join(folder, path), "utf8")])
    )
    const ids = new Map([...pages].map(([path, html]) => [path, idsOf(html)]))
    assert.isAbove(pages.size, 150)
    const broken = [...pages].flatMap(([path, html]) =>
      targets(html)
        .filter((target) => !/^(?:https?|data|mailto):/.test(target))
        .filter((target) => {
          const { hash, pathname } = new URL(target, `http://localhost${path}`)
          const file = decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname)
          if (!existsSync(join(folder, file))) return true
          return hash.length > 1 && ids.get(file)?.has(decodeURIComponent(hash.slice(1))) === false
        })
        .map((target) => `${path}: ${target}`)
    )
    assert.deepStrictEqual([...new Set(broken)], [])
  })

  it("has a page for each module of the reference, and its search index contains them", () => {
    for (const path of globSync("docs/api/**/*.md", { cwd: root, exclude: (name) => name === "README.md" })) {
      assert.isTrue(existsSync(join(folder, "manual", path.replace(/^docs\/(.*)\.md$/, "$1.html"))), path)
    }
    const [index] = globSync("manual/assets/chunks/*localSearchIndex*.js", { cwd: folder })
    assert.include(readFileSync(join(folder, index!), "utf8"), "api/core/Messages.html")
  })

  it.skipIf(withoutBrowser)(
    "runs the first bot in the browser, then a changed one, and requests nothing from other hosts",
    async () => {
      const { stop, url } = await serveFolder(folder)
      const browser = await launch()
      try {
        const page = await browser.newPage()
        const problems: Array<string> = []
        page.on("pageerror", (error) => problems.push(error.message))
        page.on("request", (request) => {
          const address = request.url()
          if (!address.startsWith(url) && !/^(?:blob|data):/.test(address)) problems.push(address)
        })
        await page.goto(`${url}/manual/playground.html`)
        const chat = page.frameLocator("iframe")
        await chat
          .getByText("Hello, You! Send me a text, and I will repeat it.")
          .filter({ visible: true })
          .first()
          .waitFor()
        const composer = chat.getByRole("textbox", { name: "Message", exact: true })
        await composer.fill("good morning")
        await composer.press("Enter")
        await chat.getByRole("button", { name: "Louder" }).click()
        await chat.getByText("GOOD MORNING!").filter({ visible: true }).first().waitFor()

        const editor = page.getByRole("textbox", { name: "The program of the bot" })
        const change = async (program: string) => {
          await editor.focus()
          await page.keyboard.press("ControlOrMeta+A")
          await page.keyboard.insertText(program)
          await page.getByRole("button", { name: "Run", exact: true }).click()
        }
        await change(`import { Handler, Messages, Updates } from "@colloquy/core"
const answer: string = "changed"
export const bot = Updates.run(Handler.on("message_created", (update) => Messages.reply(update, answer)))`)
        await page.getByText("The bot is running").waitFor()
        await composer.fill("again")
        await composer.press("Enter")
        await chat.getByText("changed", { exact: true }).filter({ visible: true }).first().waitFor()

        await change("export const bot = ")
        await page.locator(".playground-error").waitFor()
        await change('export { bot } from "./elsewhere.ts"')
        await page.locator(".playground-error").getByText('a bot can import "@colloquy/core" and "effect"').waitFor()
        assert.deepStrictEqual(problems, [])
      } finally {
        await browser.close()
        stop()
      }
    },
    120_000
  )
})

describe("a bot of the examples in the page", () => {
  it("is the part of its module above the main program, without the imports that only the main program uses", () => {
    const source = `import { Handler, LongPolling } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"

export const bot = Handler.on()

if (import.meta.main) {
  NodeBot.run(LongPolling.layer())
}
`
    assert.strictEqual(botOf(source), `import { Handler } from "@colloquy/core"\n\nexport const bot = Handler.on()\n`)
  })

  it("is not made from a module without a main program", () => {
    assert.throws(() => botOf("export const bot = 1"), "import.meta.main")
  })
})
