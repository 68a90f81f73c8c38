/// <reference lib="dom" />
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { BrowserContextOptions, Page } from "playwright-core"
import { strFromU8, unzipSync } from "../site/node_modules/fflate/esm/index.mjs"
import { violationsOf } from "../packages/testing/test/support/axe.ts"
import { executablePath, launch } from "../packages/testing/test/support/browserLaunch.ts"
import { contrastOf } from "../packages/testing/test/support/contrast.ts"
import { modules } from "../scripts/internal/reference.ts"
import { publicPackages, run } from "../scripts/internal/workspace.ts"
import { botOf, bots } from "../site/internal/bots.ts"
import { makeSearch, questions } from "./support/siteSearch.ts"
import { serveFolder } from "./support/staticServer.ts"

/** The browser test must run in `.ci/run`. */
const withoutBrowser = executablePath === undefined && process.env["BROWSER_TESTS"] !== "required"

let folder = ""

let printed = ""

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
  printed = built.output
}, 1_200_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Opens a page of the site in a browser. `problems` has the script errors and the requests to other hosts. */
const inBrowser = async (
  path: string,
  options: BrowserContextOptions,
  use: (page: Page, problems: ReadonlyArray<string>) => Promise<void>
): Promise<void> => {
  const { stop, url } = await serveFolder(folder)
  const browser = await launch()
  try {
    const page = await (await browser.newContext({ reducedMotion: "reduce", ...options })).newPage()
    const problems: Array<string> = []
    page.on("pageerror", (error) => problems.push(error.message))
    page.on("request", (request) => {
      const address = request.url()
      if (!address.startsWith(url) && !/^(?:blob|data):/.test(address)) problems.push(address)
    })
    await page.goto(`${url}/manual/${path}`)
    await use(page, problems)
  } finally {
    await browser.close()
    stop()
  }
}

/** The chat with the bot, when the bot has greeted. */
const chatOf = async (page: Page) => {
  const chat = page.frameLocator("iframe")
  await chat.getByText("Hello, You! Send me a text, and I will repeat it.").filter({ visible: true }).first().waitFor()
  return chat
}

/** The addresses in a page that are relative to it or to its host. */
const targets = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, target]) => target!.replaceAll("&amp;", "&"))

const idsOf = (html: string): ReadonlySet<string> => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!))

describe("the site of the documentation", () => {
  it("is built without a warning", () => assert.notMatch(printed, /warn|conflict|deprecat|unrecognized|\(!\)/i))

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

  it("has a page for each module of the reference, and its search index contains them", async () => {
    for (const { name, package: from } of await modules()) {
      assert.isTrue(existsSync(join(folder, `manual/api/${from}/${name}.html`)), name)
    }
    const [index] = globSync("manual/assets/chunks/*localSearchIndex*.js", { cwd: folder })
    assert.include(readFileSync(join(folder, index!), "utf8"), "api/core/Messages.html")
  })

  it("finds what people look for as the first result: at least 36 of 40 questions", async () => {
    const [file] = globSync("manual/assets/chunks/*localSearchIndexroot*.js", { cwd: folder })
    const { default: index } = (await import(pathToFileURL(join(folder, file!)).href)) as { readonly default: string }
    const search = makeSearch(index)
    assert.lengthOf(questions, 40)
    const wrong = questions.flatMap(([query, ...places]) => {
      const found = search(query)
      return found !== undefined && places.includes(found) ? [] : [`${query}: ${found}`]
    })
    assert.isAtMost(wrong.length, 4, wrong.join("\n"))
    const required = ["send a photo", "upload a file", "getting started", "buttons", "wait for an answer", "deploy"]
    assert.deepStrictEqual(
      wrong.filter((line) => required.some((query) => line.startsWith(`${query}:`))),
      []
    )
  })

  it("has the types of the guide, the errors of each endpoint, and a link to the source", () => {
    const read = (path: string) => readFileSync(join(folder, "manual", path), "utf8")
    assert.match(read("effect-primer.html"), /data-type="const send: Endpoint[^"]*Forbidden \| NotFound/)
    const reference = read("api/core/Messages.html")
    for (const name of ["Forbidden", "NotFound", "AttachmentNotReady", "RateLimited"]) {
      assert.match(reference, new RegExp(`class="errors"[^]*?href="\\./ApiError\\.html#${name.toLowerCase()}"`))
    }
    assert.include(reference, "code/packages/core/src/endpoints/Messages.ts.html")
    const source = readFileSync("packages/core/src/endpoints/Messages.ts", "utf8").split("\n")
    for (const name of ["send", "edit"]) {
      const [, line] = new RegExp(`id="${name}"[^]*?/Messages\\.ts\\.html#L(\\d+)"`).exec(reference) ?? []
      const declared = source.slice(Number(line) - 1).find((each) => each.startsWith("export"))
      assert.match(declared ?? "", new RegExp(`^export const ${name}\\b`))
    }
  })

  it("shows its version, and the previous and the next page", () => {
    const html = readFileSync(join(folder, "manual/handlers.html"), "utf8")
    const { version } = JSON.parse(readFileSync("packages/core/package.json", "utf8")) as { readonly version: string }
    assert.include(html, `v${version}`)
    assert.match(html, /pager-link prev[^]*pager-link next/)
  })

  it("has the pages of the guide in Russian, with a navigation of their own and links between the languages", () => {
    const linksOf = (path: string) =>
      targets(readFileSync(join(folder, "manual", path), "utf8")).map(
        (target) => new URL(target, `http://localhost/manual/${path}`).pathname
      )
    assert.includeMembers(linksOf("ru/handlers.html"), [
      "/manual/handlers.html",
      "/manual/ru/introduction.html",
      "/manual/ru/conversations.html",
      "/manual/emulator.html"
    ])
    assert.include(linksOf("handlers.html"), "/manual/ru/handlers.html")
    assert.include(linksOf("stores.html"), "/manual/ru/introduction.html")
    assert.include(readFileSync(join(folder, "manual/ru/handlers.html"), "utf8"), "Создание бота")
  })

  it("links to the reference where a page of the repository links to the source of a public module", () => {
    const html = readFileSync(join(folder, "manual/emulator.html"), "utf8")
    assert.include(html, 'href="./api/testing/Person.html"')
    assert.include(readFileSync(join(folder, "manual/contents.html"), "utf8"), 'href="./api/contents.html"')
  })

  it("lists its pages in llms.txt", () => {
    const list = readFileSync(join(folder, "manual/llms.txt"), "utf8")
    const links = [...list.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, path]) => path!)
    assert.includeMembers(links, ["delivery.html", "api/core/Messages.html", "code/examples/src/echo.ts.html"])
    assert.deepStrictEqual(
      links.filter((path) => !existsSync(join(folder, "manual", path))),
      []
    )
  })

  it("has each package of the reference in its navigation", () => {
    const html = readFileSync(join(folder, "manual/api/contents.html"), "utf8")
    for (const name of publicPackages) assert.include(html, `@colloquy/${name}</h2>`)
  })
})

describe.skipIf(withoutBrowser)("the site of the documentation in a browser", () => {
  it("runs the first bot, then a changed one, and requests nothing from other hosts", () =>
    inBrowser("playground.html", {}, async (page, problems) => {
      const chat = await chatOf(page)
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
      await change(`import { Bot, Handler, Messages } from "@colloquy/core"
const answer: string = "changed"
export const bot = Bot.run(Handler.on("message_created", (update) => Messages.reply(update, answer)))`)
      await page.getByText("The bot is running").waitFor()
      await composer.fill("again")
      await composer.press("Enter")
      await chat.getByText("changed", { exact: true }).filter({ visible: true }).first().waitFor()

      await change("export const bot = ")
      await page.locator(".playground-error").waitFor()
      await change('export { bot } from "./elsewhere.ts"')
      await page.locator(".playground-error").getByText('a bot can import "@colloquy/core" and "effect"').waitFor()
      assert.deepStrictEqual(problems, [])
    }))

  it("runs each of the eight bots, and checks the types of a program while somebody writes", () =>
    inBrowser("playground.html", {}, async (page, problems) => {
      await chatOf(page)
      assert.lengthOf(bots(), 8)
      for (const { name } of bots().toReversed()) {
        await page.getByRole("combobox").selectOption(name)
        await page.getByText("The bot is running").waitFor()
      }
      const editor = page.getByRole("textbox", { name: "The program of the bot" })
      await editor.focus()
      await page.keyboard.press("ControlOrMeta+A")
      await page.keyboard.insertText('import { Effect } from "effect"\n\nconst count: number = "one"\n')
      await page.locator(".cm-lintRange-error").first().waitFor()
      await page.locator(".cm-lintRange-error").first().hover()
      await page.getByText("Type 'string' is not assignable to type 'number'").waitFor()
      await page.locator(".cm-line", { hasText: "count" }).getByText("count").hover()
      await page.getByText("const count: number", { exact: false }).first().waitFor()
      assert.deepStrictEqual(problems, [])
    }))

  it("keeps a program in the address, marks the line of its error, shows its log, and makes a project of it", () =>
    inBrowser("playground.html", {}, async (page) => {
      await chatOf(page)
      const editor = page.getByRole("textbox", { name: "The program of the bot" })
      const program = (line: string) => `import { Effect } from "effect"\n\n${line}\n`
      const write = async (line: string) => {
        await editor.focus()
        await page.keyboard.press("ControlOrMeta+A")
        await page.keyboard.insertText(program(line))
        await page.keyboard.press("ControlOrMeta+Enter")
      }
      await write("export const bot = Effect.log(missing)")
      await page.getByText("Line 3: missing is not defined").waitFor()
      await page.locator(".cm-lint-marker-error").first().waitFor()
      const line = 'export const bot = Effect.andThen(Effect.log("hello log"), Effect.never)'
      await write(line)
      await page.getByRole("log").getByText("hello log").waitFor()
      assert.include(page.url(), "#program=")
      await page.reload()
      await page.getByRole("log").getByText("hello log").waitFor()
      assert.include(await editor.innerText(), "hello log")
      const downloaded = page.waitForEvent("download")
      await page.getByRole("button", { name: "Open as a project" }).click()
      const archive = readFileSync(await (await downloaded).path())
      const files = unzipSync(archive)
      assert.strictEqual(strFromU8(files["my-bot/src/bot.ts"]!), program(line))
      assert.include(strFromU8(files["my-bot/package.json"]!), "colloquy-emulator")
    }))

  it("begins with a program, the error that nobody handles, and a bot that answers", () =>
    inBrowser("index.html", { viewport: { width: 1280, height: 800 } }, async (page, problems) => {
      await page.locator(".type-error").getByText("is not assignable to type 'never'").waitFor()
      const chat = await chatOf(page)
      const composer = chat.getByRole("textbox", { name: "Message", exact: true })
      assert.strictEqual(await page.evaluate(() => scrollY), 0)
      await composer.fill("good morning")
      await composer.press("Enter")
      await chat.getByRole("button", { name: "Louder" }).waitFor()
      await page.locator(".start-code .typed", { hasText: /^send$/ }).hover()
      await page.getByRole("tooltip").getByText("Forbidden | ").waitFor()
      assert.deepStrictEqual(problems, [])
    }))

  it.each(["light", "dark"] as const)("has no violation of axe in %s colors, at 1280 and 360 px", (colorScheme) =>
    inBrowser("index.html", { colorScheme }, async (page) => {
      for (const path of [
        "index.html",
        "playground.html",
        "handlers.html",
        "api/core/Messages.html",
        "contents.html"
      ]) {
        for (const width of [1280, 360]) {
          await page.setViewportSize({ width, height: 800 })
          await page.goto(new URL(`/manual/${path}`, page.url()).href)
          if (path === "playground.html") await chatOf(page)
          // The frame has tests of its own.
          const violations = await violationsOf(page, ["iframe"])
          assert.deepStrictEqual(violations, [], `${path} at ${width} px`)
        }
      }
    })
  )

  it.each([1280, 360])("finds a section by a search, and opens it, in a window of %d px", (width) =>
    inBrowser("introduction.html", { viewport: { width, height: 800 } }, async (page) => {
      await page.getByRole("button", { name: "Search" }).first().click()
      await page.getByRole("searchbox").fill("dead letters")
      await page.getByRole("option", { name: "There are dead letters" }).click()
      await page.getByRole("heading", { name: "There are dead letters" }).waitFor()
      assert.include(page.url(), "/manual/operations.html#there-are-dead-letters")
    })
  )

  it("finds a function of the reference by its name, with the keyboard", () =>
    inBrowser("introduction.html", { viewport: { width: 1280, height: 800 } }, async (page) => {
      await page.getByRole("button", { name: "Search" }).first().waitFor()
      await page.keyboard.press("Control+k")
      // What is typed before the field is there is lost.
      await page.getByRole("searchbox").fill("pruneUnreachable")
      await page.getByRole("option", { name: "pruneUnreachable", selected: true }).waitFor()
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "pruneUnreachable" }).waitFor()
      assert.include(page.url(), "/manual/api/core/Broadcasts.html#pruneunreachable")
    }))

  it.each([1280, 360])("switches to dark colors and keeps them, with readable texts, in a window of %d px", (width) =>
    inBrowser("playground.html", { colorScheme: "light", viewport: { width, height: 900 } }, async (page) => {
      const isDark = () => page.evaluate(() => document.documentElement.classList.contains("dark"))
      const assertReadable = async () => {
        const chat = await chatOf(page)
        const texts = [
          page.locator(".vp-doc p").first(),
          page.locator(".playground-bar output"),
          page.locator(".playground-bar select"),
          chat.locator(".message .text").last(),
          chat.locator(".meta time").last(),
          chat.locator(".chat-title small").first()
        ]
        for (const text of texts) assert.isAtLeast(await contrastOf(text), 4.5, String(text))
      }
      await assertReadable()
      assert.isFalse(await isDark())
      if (width === 360) await page.getByRole("button", { name: "mobile navigation" }).click()
      await page.getByRole("switch", { name: "Switch to dark theme" }).filter({ visible: true }).click()
      if (width === 360) await page.getByRole("button", { name: "mobile navigation" }).click()
      assert.isTrue(await isDark())
      await page.frameLocator("iframe").locator("html[data-theme=dark]").waitFor()
      await assertReadable()
      await page.reload()
      assert.isTrue(await isDark())
      await assertReadable()
    })
  )

  it.each([1280, 360])("shows diagrams in a size that can be read in a window of %d px", (width) =>
    inBrowser("delivery.html", { viewport: { width, height: 800 } }, async (page) => {
      for (const path of ["delivery.html", "architecture.html"]) {
        await page.goto(new URL(path, page.url()).href)
        await page.locator(".diagram svg").first().waitFor()
        for (const diagram of await page.locator(".diagram svg").all()) {
          const scale = await diagram.evaluate(
            (svg) => svg.getBoundingClientRect().width / (svg as SVGSVGElement).viewBox.baseVal.width
          )
          assert.isAtLeast(scale, 0.6, path)
        }
      }
    })
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
