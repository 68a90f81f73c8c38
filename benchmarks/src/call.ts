/** Prints the CPU time of a call in microseconds, with 16 concurrent calls to a server in another process. */
import { Chat, Messages, type RateLimiter } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { Agent, request } from "undici"
import { printCosts } from "./child.ts"

const warmUps = 3
const rounds = 7
const calls = 8_000
const atOnce = 16

const server = fork(fileURLToPath(new URL("server.ts", import.meta.url)))
const [port] = (await once(server, "message")) as [number]
const baseUrl = `http://127.0.0.1:${port}`

const chat_id = Chat.ChatId.make(-70912345678901)
const text = "Those who have not read it find it here: https://books.example/42. We start at seven, as always."
const url = `${baseUrl}/messages?chat_id=${chat_id}`
const method = "POST"
const headers = { authorization: "token", "content-type": "application/json" }
const body = () => JSON.stringify({ text, notify: false, format: "markdown" })
const dispatcher = new Agent({ connections: 64 })

const bot = ManagedRuntime.make(
  NodeBot.layer({ token: "token", baseUrl, limits: { host: spacious(), messages: spacious() } })
)
const send = Messages.send({ chat_id, text, notify: false, format: "markdown" })

/** A limit that is applied but never reached. */
function spacious(): RateLimiter.Limit {
  return { count: 1_000_000, window: "1 second" }
}

const workers = (call: () => Promise<unknown>) => async () => {
  let left = calls
  const work = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

const contenders: Readonly<Record<string, () => Promise<unknown>>> = {
  "undici.request": workers(async () => {
    const response = await request(url, { method, headers, body: body(), dispatcher })
    return JSON.parse(await response.body.text())
  }),
  fetch: workers(async () => (await fetch(url, { method, headers, body: body() })).json()),
  "Messages.send": () =>
    bot.runPromise(Effect.forEach(Array.from({ length: calls }), () => send, { concurrency: atOnce, discard: true }))
}

const measure = async (run: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await run()
  const { system, user } = process.cpuUsage(before)
  return (user + system) / calls
}

for (let round = 0; round < warmUps; round++) for (const run of Object.values(contenders)) await measure(run)
const costs = Object.fromEntries(Object.keys(contenders).map((name) => [name, new Array<number>()]))
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(contenders)) costs[name].push(await measure(run))
}
printCosts(costs)
await bot.dispose()
await dispatcher.close()
server.kill()
process.exit()
