import { afterAll } from "vitest"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { executablePath, launch } from "./browserLaunch.ts"

/** Whether the tests of the page must run, as in `.ci/run`. */
const isRequired = process.env["BROWSER_TESTS"] === "required"

export const isSkipped = executablePath === undefined && !isRequired

if (isSkipped) {
  console.log(
    "The tests of the page are skipped: there is no Chromium. Install it (Debian: apt-get install chromium), or set CHROMIUM_PATH."
  )
}

let browser: Promise<Browser> | undefined

afterAll(async () => {
  await (await browser)?.close()
})

/**
 * Opens an address in a new context, and waits for an element. A script error or a violation of the content security policy is a
 * problem, and so is a request to another origin.
 */
export const openAddress = async (
  url: string,
  ready: string,
  options: BrowserContextOptions = {}
): Promise<{ readonly page: Page; readonly problems: ReadonlyArray<string> }> => {
  browser ??= launch()
  const context = await (
    await browser
  ).newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...options
  })
  // Only ends a test that hangs, and says what it waited for. The limit of the test is longer.
  context.setDefaultTimeout(120_000)
  const page = await context.newPage()
  const problems: Array<string> = []
  page.on("pageerror", (error) => problems.push(error.message))
  page.on("console", (message) => {
    const text = message.text()
    if (message.type() === "error" && !text.includes("the server responded with a status of")) problems.push(text)
  })
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== new URL(url).origin && protocol !== "blob:" && protocol !== "data:")
      problems.push(`request to ${origin}`)
  })
  await page.goto(url)
  await page.waitForSelector(ready, { state: "attached" })
  return { page, problems }
}

/** Opens the page of the emulator. */
export const openPage = (url: string, options?: BrowserContextOptions): ReturnType<typeof openAddress> =>
  openAddress(`${url}/_emulator/ui`, ".person-picker", options)
