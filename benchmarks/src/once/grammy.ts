import { Bot, webhookCallback } from "grammy"
import type { Update, UserFromGetMe } from "grammy/types"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { request } from "undici"

const me = { id: 1, is_bot: true, first_name: "Bench", username: "bench_bot" } as UserFromGetMe

const update: Update = {
  update_id: 1,
  message: {
    message_id: 1,
    date: 1,
    text: "An order",
    from: { id: 42, is_bot: false, first_name: "Ann" },
    chat: { id: 42, type: "private", first_name: "Ann" }
  }
}

/** A Telegram Bot API that delivers one update: by `getUpdates`, until it is confirmed. It counts the messages it receives. */
const startApi = async () => {
  const counts = { messages: 0 }
  let isConfirmed = false
  const server = createServer(async (incoming, response) => {
    let text = ""
    for await (const chunk of incoming) text += String(chunk)
    const { offset = 0 } = JSON.parse(text || "{}") as { readonly offset?: number }
    const answer = (result: unknown) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ok: true, result }))
    const method = incoming.url!.split("/").at(-1)
    if (method === "sendMessage") {
      counts.messages++
      answer({ message_id: counts.messages, date: 0, chat: update.message!.chat })
    } else if (method === "getUpdates") {
      if (offset > update.update_id) isConfirmed = true
      answer(isConfirmed ? [] : [update])
    } else answer(true)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    apiRoot: `http://127.0.0.1:${port}`,
    counts,
    isConfirmed: () => isConfirmed,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

export interface Copies {
  readonly copies: number
  readonly attempts: number
}

const makeBot = (apiRoot: string, failures: number) => {
  const bot = new Bot("1:token", { botInfo: me, client: { apiRoot } })
  const ran = { attempts: 0 }
  bot.on("message", async (context) => {
    await context.reply("Order accepted")
    if (++ran.attempts <= failures) throw new Error("not yet")
  })
  return { bot, ran }
}

/** By long polling: `bot.start()`, with an error handler that logs, as the documentation of grammY recommends. */
export const byPolling = async (failures: number): Promise<Copies> => {
  const api = await startApi()
  try {
    const { bot, ran } = makeBot(api.apiRoot, failures)
    bot.catch(() => undefined)
    void bot.start()
    while (!api.isConfirmed()) await new Promise((resolve) => setTimeout(resolve, 5))
    await bot.stop()
    return { copies: api.counts.messages, attempts: ran.attempts }
  } finally {
    api.close()
  }
}

/** By a webhook: `webhookCallback`, with a platform that delivers an update again until the response has status 200. */
export const byWebhook = async (failures: number): Promise<Copies> => {
  const api = await startApi()
  const { bot, ran } = makeBot(api.apiRoot, failures)
  const handle = webhookCallback(bot, "http")
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.writeHead(500).end())
  })
  try {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    for (let status = 0; status !== 200 && ran.attempts <= failures;) {
      const response = await request(`http://127.0.0.1:${port}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(update)
      })
      await response.body.dump()
      status = response.statusCode
    }
    return { copies: api.counts.messages, attempts: ran.attempts }
  } finally {
    server.close()
    server.closeAllConnections()
    api.close()
  }
}
