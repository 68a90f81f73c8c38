import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bundleWorker, deliver, hasWorkerd, programOf, secret, serveWorker } from "../benchmarks/src/workerd.ts"
import { root } from "../scripts/internal/workspace.ts"
import { fencesOf, firstLine, start } from "./support/readme.ts"

type Seen = { readonly seen: ReadonlyArray<{ readonly message?: { readonly body?: { readonly text?: string } } }> }

interface Configuration {
  readonly durable_objects: { readonly bindings: ReadonlyArray<{ readonly name: string; readonly class_name: string }> }
  readonly migrations: ReadonlyArray<{ readonly new_sqlite_classes: ReadonlyArray<string> }>
}

describe.runIf(hasWorkerd || process.env["CI"] === "true")("A webhook bot on workerd", () => {
  const folder = mkdtempSync(join(tmpdir(), "worker-"))
  const ends: Array<() => void> = []

  let modules: ReadonlyArray<string> = []

  beforeAll(async () => {
    const bundle = await bundleWorker({ input: programOf("bot"), folder, conditions: ["source"] })
    modules = bundle.modules.map((path) => path.slice(path.lastIndexOf("/packages/") + 1))
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

  const startWorker = async (baseUrl: string, bundle = folder) => {
    const worker = await serveWorker(bundle, {
      BOT_TOKEN: "emulator-token",
      BOT_BASE_URL: baseUrl,
      BOT_WEBHOOK_URL: bundle === folder ? "http://127.0.0.1/updates" : "https://127.0.0.1/updates"
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

  const subscribe = async (api: string, url: string) => {
    const subscribed = await fetch(`${api}/subscriptions`, {
      method: "POST",
      headers: { authorization: "emulator-token", "content-type": "application/json" },
      body: JSON.stringify({ url, secret })
    })
    assert.deepStrictEqual(await subscribed.json(), { success: true })
  }

  it("contains no modules of states, uploads, conversations and timers, which it does not use", () => {
    const unused =
      /core\/src\/(bot\/(internal\/state\/(access|codec|forget)|State|Timer\b)|inbox\/internal\/consumer\/cells|endpoints\/(internal\/upload|Upload)|dialog\/(internal\/conversation|Conversation))/
    assert.deepStrictEqual(
      modules.filter((path) => unused.test(path)),
      []
    )
    assert.include(modules, "packages/core/src/inbox/Webhook.ts")
  })

  it("answers the people of the emulator, one after the other and at the same time", async () => {
    const api = await startEmulator()
    const url = await startWorker(api)
    await subscribe(api, url)
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

  it("is the Durable Object of docs/runtimes.md, whose configuration names its class", async () => {
    const bundle = mkdtempSync(join(root, ".fences-worker-"))
    ends.push(() => rmSync(bundle, { recursive: true, force: true }))
    const [program, configuration, ...more] = fencesOf("Durable Objects", "docs/runtimes.md")
    assert.deepStrictEqual([program.language, configuration.language, ...more], ["ts", "json"])
    const { durable_objects, migrations }: Configuration = JSON.parse(configuration.text)
    const [{ class_name }] = durable_objects.bindings
    assert.deepStrictEqual(
      [durable_objects.bindings, migrations[0].new_sqlite_classes],
      [[{ name: "BOT", class_name }], [class_name]]
    )
    const input = join(bundle, "worker.ts")
    writeFileSync(input, program.text)
    await bundleWorker({
      input: pathToFileURL(input),
      folder: bundle,
      conditions: ["source"],
      durableObject: class_name
    })
    const api = await startEmulator()
    await subscribe(api, await startWorker(api, bundle))
    assert.strictEqual(await replyTo(api, "Hello"), "Hello")
  })
})
