import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bundleWorker, deliver, hasWorkerd, secret, serveWorker } from "../benchmarks/src/workerd.ts"
import { root } from "../scripts/internal/workspace.ts"
import { firstLine, start } from "./support/readme.ts"

type Seen = { readonly seen: ReadonlyArray<{ readonly message?: { readonly body?: { readonly text?: string } } }> }

describe.runIf(hasWorkerd || process.env["CI"] === "true")("A webhook bot on workerd", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "worker-"))
  const ends: Array<() => void> = []

  beforeAll(async () => {
    await bundleWorker("bot", folder, ["source"])
  })

  afterAll(() => {
    for (const end of ends) end()
    rmSync(folder, { recursive: true, force: true })
  })

  const startEmulator = async () => {
    const bin = join(root, "packages/testing/src/bin.ts")
    const emulator = start(process.execPath, ["--conditions=source", bin, "--json", "--lenient"], root, (end) =>
      ends.push(end)
    )
    return (JSON.parse(await firstLine(emulator)) as { readonly url: string }).url
  }

  const startWorker = async (baseUrl: string) => {
    const worker = await serveWorker(folder, {
      BOT_TOKEN: "emulator-token",
      BOT_BASE_URL: baseUrl,
      BOT_WEBHOOK_URL: "http://127.0.0.1/updates"
    })
    ends.push(() => void worker.stop())
    return worker.url
  }

  /** Writes to the bot as a new person, and returns the text that the person sees. */
  const replyTo = async (api: string, text: string): Promise<string | undefined> => {
    const post = (path: string, body: object) =>
      fetch(`${api}/_emulator${path}`, { method: "POST", body: JSON.stringify(body) })
    const { user_id } = (await (await post("/users", { first_name: "Ann" })).json()) as { readonly user_id: number }
    await post("/messages", { user_id, text })
    const response = await fetch(`${api}/_emulator/seen?user_id=${user_id}&wait_ms=30000`)
    const { seen } = (await response.json()) as Seen
    return seen[0]?.message?.body?.text
  }

  it("answers the people of the emulator, one after the other and at the same time", async () => {
    const api = await startEmulator()
    const url = await startWorker(api)
    const subscribed = await fetch(`${api}/subscriptions`, {
      method: "POST",
      headers: { authorization: "emulator-token", "content-type": "application/json" },
      body: JSON.stringify({ url, secret })
    })
    assert.deepStrictEqual(await subscribed.json(), { success: true })
    assert.strictEqual(await replyTo(api, "Hello"), "Hello")
    assert.strictEqual(await replyTo(api, "And again"), "And again")
    const texts = ["one", "two", "three", "four", "five"]
    assert.deepStrictEqual(await Promise.all(texts.map((text) => replyTo(api, text))), texts)
  })

  it("rejects a delivery without the secret, and serves its health", async () => {
    const url = await startWorker("http://127.0.0.1:9")
    assert.strictEqual((await fetch(url, { method: "POST", body: "{}" })).status, 403)
    assert.strictEqual((await fetch(new URL("/health/live", url))).status, 200)
  })

  it("responds 200 to a duplicate delivery", async () => {
    const url = await startWorker("http://127.0.0.1:9")
    const update = { update_type: "unknown", timestamp: 1 }
    assert.strictEqual((await deliver(url, update)).status, 200)
    assert.strictEqual((await deliver(url, update)).status, 200)
  })
})
