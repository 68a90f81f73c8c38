/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser } from "playwright-core"
import { isSkipped } from "../../support/browser.ts"
import { launch } from "../../support/browserLaunch.ts"
import { type PageEmulator, startEmulator } from "../../support/pageEmulator.ts"

/** A name on the internet that DNS rebinding directs to this machine. */
const rebound = "rebound.example.com"

let browser: Browser
let emulator: PageEmulator
let site: Server

beforeAll(async () => {
  if (isSkipped) return
  browser = await launch([`--host-resolver-rules=MAP ${rebound} 127.0.0.1`])
  emulator = await startEmulator()
  site = createServer((_, response) => response.end("<!doctype html><title>A page</title>"))
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve))
})

afterAll(async () => {
  await browser?.close()
  await emulator?.stop()
  site?.close()
})

interface Init {
  readonly method?: string
  readonly mode?: "no-cors"
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** What scripts of a page get for their requests: the status and the body, or the error of the browser. */
const requestsOf = async (pageUrl: string, requests: ReadonlyArray<readonly [url: string, init: Init]>) => {
  const page = await browser.newPage()
  await page.goto(pageUrl)
  const answers = await page.evaluate(
    (requests) =>
      Promise.all(
        requests.map(([url, init]) =>
          fetch(url, init).then(
            async (response) => `${response.status} ${await response.text()}`,
            (error) => String(error)
          )
        )
      ),
    requests
  )
  await page.close()
  return answers
}

const withToken = { headers: { authorization: "emulator-token" } }

describe.skipIf(isSkipped)("a page of another site", () => {
  it("under a name that is directed to this machine cannot use the token of the bot", async () => {
    const { port } = new URL(emulator.url)
    const answers = await requestsOf(`http://${rebound}:${port}/me`, [
      ["/me", withToken],
      ["/updates?timeout=0", withToken],
      ["/subscriptions", { ...withToken, method: "POST", body: '{"url":"https://attacker.org"}' }],
      ["/_emulator/bots", {}]
    ])
    for (const answer of answers) assert.match(answer, /^403 .*host\.denied/)
    assert.deepStrictEqual(((await emulator.get("/requests")) as { requests: unknown }).requests, [])
  })

  it("under its own name cannot send requests to the emulator", async () => {
    const { port } = site.address() as AddressInfo
    const answers = await requestsOf(`http://127.0.0.1:${port}/`, [
      [`${emulator.url}/me`, withToken],
      [`${emulator.url}/_emulator/reset`, { method: "POST", mode: "no-cors", body: "{}" }]
    ])
    assert.deepStrictEqual(answers, ["TypeError: Failed to fetch", "0 "])
    assert.deepStrictEqual(((await emulator.get("/requests")) as { requests: unknown }).requests, [])
    assert.notInclude(await (await fetch(`${emulator.url}/_emulator/journal`)).text(), '"reset"')
  })
})
