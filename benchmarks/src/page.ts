import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { type Browser, chromium, type Page } from "playwright-core"
import { messagesOf, startEmulator } from "./emulator.ts"
import { type Measured, median, percentile } from "./figure.ts"

const built = (name: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../packages/testing/dist/ui/${name}`, import.meta.url)))

/** The size of all files of the page, gzipped. */
export const pageSize = async (): Promise<Measured> => {
  const sizes = ["index.html", "page.css", "page.js", "icon.svg"].map(
    (name) => [name, gzipSync(built(name), { level: 9 }).byteLength / 1000] as const
  )
  return {
    value: sizes.reduce((sum, [, size]) => sum + size, 0),
    detail: sizes.map(([name, size]) => `${name} ${size.toFixed(1)} kB`).join(", ")
  }
}

const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync"
    ]
  })

const withPage = async <A>(
  measure: (browser: Browser, emulator: Awaited<ReturnType<typeof startEmulator>>) => Promise<A>
): Promise<A> => {
  const browser = await launch()
  const emulator = await startEmulator(1)
  try {
    return await measure(browser, emulator)
  } finally {
    await emulator.kill()
    await browser.close()
  }
}

const open = async (browser: Browser, url: string): Promise<Page> => {
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${url}/_emulator/ui`)
  await page.waitForSelector(".chat-row")
  return page
}

/** The time from the navigation to the first content on the screen, each time without a cache. */
export const firstPaint = (): Promise<Measured> =>
  withPage(async (browser, { url }) => {
    const times: Array<number> = []
    for (let round = 0; round < 15; round++) {
      const page = await open(browser, url)
      times.push(
        await page.evaluate(`new Promise((resolve) => {
          const read = () => {
            const [paint] = performance.getEntriesByName("first-contentful-paint")
            if (paint === undefined) setTimeout(read, 10)
            else resolve(paint.startTime)
          }
          read()
        })`)
      )
      await page.context().close()
    }
    return { value: median(times), detail: `median of ${times.length}, slowest ${Math.max(...times).toFixed(0)} ms` }
  })

const messages = 300

/** The time from the request of a bot to the frame in which its message is on the screen, at 20 messages a second. */
export const messageToScreen = (): Promise<Measured> =>
  withPage(async (browser, emulator) => {
    const page = await open(browser, emulator.url)
    await page.click(".chat-row")
    await page.getByText("There are no messages yet.").waitFor()
    await page.evaluate(`{
      globalThis.times = []
      const seen = new Set()
      new MutationObserver(() => {
        for (const element of document.querySelectorAll("article.message")) {
          if (seen.has(element.dataset.mid)) continue
          seen.add(element.dataset.mid)
          const sentAt = Number(/sent at (\\d+);/.exec(element.textContent)?.[1])
          requestAnimationFrame(() => globalThis.times.push(Date.now() - sentAt))
        }
      }).observe(document.querySelector(".messages"), { childList: true, subtree: true })
    }`)
    const headers = { authorization: "token", "content-type": "application/json" }
    for (let sent = 0; sent < messages; sent++) {
      const body = JSON.stringify({ text: `Message sent at ${Date.now()};` })
      await fetch(messagesOf(emulator), { method: "POST", headers, body })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await page.waitForFunction(`globalThis.times.length >= ${messages}`)
    const times = (await page.evaluate("globalThis.times")) as ReadonlyArray<number>
    return {
      value: percentile(times, 0.99),
      detail: `${times.length} messages, median ${median(times)} ms, slowest ${Math.max(...times)} ms`
    }
  })
