/** Prints the CPU time of a call in microseconds, with 16 concurrent calls to a server in another process. */
import { Chat, Messages, type RateLimiter } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { Agent, request } from "undici"
import { printCosts } from "./child.ts"
import { startServer } from "./processes.ts"
import { cpuOf, takeTurns } from "./rounds.ts"

const calls = 8_000
const atOnce = 16

const server = await startServer("server.ts")
const baseUrl = server.url

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

const costOf = async (run: () => Promise<unknown>): Promise<number> => (await cpuOf(run)) / calls

const workers = (call: () => Promise<unknown>) => () => {
  let left = calls
  const work = async () => {
    while (left-- > 0) await call()
  }
  return costOf(() => Promise.all(Array.from({ length: atOnce }, work)))
}

const contenders = {
  "undici.request": workers(async () => {
    const response = await request(url, { method, headers, body: body(), dispatcher })
    return JSON.parse(await response.body.text())
  }),
  fetch: workers(async () => (await fetch(url, { method, headers, body: body() })).json()),
  "Messages.send": () =>
    costOf(() =>
      bot.runPromise(Effect.forEach(Array.from({ length: calls }), () => send, { concurrency: atOnce, discard: true }))
    )
}

printCosts(await takeTurns(contenders, { rounds: 7, warmUps: 3 }))
await bot.dispose()
await dispatcher.close()
await server.kill()
process.exit()
