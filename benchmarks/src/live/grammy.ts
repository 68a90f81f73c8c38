import { autoRetry } from "@grammyjs/auto-retry"
import { streamApi } from "@grammyjs/stream"
import { Api } from "grammy"
import { mock } from "node:test"
import { percentile } from "../figure.ts"
import { platformLimits, respond } from "../telegram.ts"
import * as load from "./load.ts"

/**
 * The same load on grammY with `@grammyjs/stream` and `@grammyjs/auto-retry`, in virtual time, on an API with the same limits,
 * which answers 429 with `retry_after: 1`.
 */
export const run = async (chats: number) => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] })
  const limits = platformLimits(30)
  const shown = Array.from({ length: chats }, () => new Array<load.Shown>())
  const finals = Array.from({ length: chats }, () => "")
  const waited: Array<number> = []
  let refused = 0
  const startedAt = Date.now()

  const fetch = async (url: string | URL, init: { readonly body?: unknown } = {}) => {
    const { chat_id, text } = JSON.parse(String(init.body)) as { readonly chat_id: number; readonly text: string }
    const now = Date.now()
    const isAllowed = limits(now, chat_id)
    const answer = Response.json(respond(isAllowed, { chat_id, text }))
    if (!isAllowed) {
      refused++
      return answer
    }
    shown[chat_id]?.push({ token: load.lastToken(text), at: now - startedAt - begin(chat_id) })
    if (chat_id < chats && String(url).endsWith("/sendMessage")) finals[chat_id] += text
    return answer
  }

  const api = new Api("1:token", { fetch: fetch as never })
  api.config.use(autoRetry())
  const { streamMessage } = streamApi(api.raw)

  const begin = (chat: number) => chat * load.startMillis

  async function* answer(chat: number) {
    await new Promise((resolve) => setTimeout(resolve, begin(chat)))
    for (const token of load.tokens) {
      await new Promise((resolve) => setTimeout(resolve, load.tokenMillis))
      yield token
    }
  }

  const answering = Promise.all(finals.map((_, chat) => streamMessage(chat, 0, answer(chat))))
  let isDone = false
  void answering.then(
    () => (isDone = true),
    () => (isDone = true)
  )
  let nextReply = 1003
  // Twenty minutes, if the finals take so long.
  for (let now = 0; now < 1_200_000 && !isDone; now += 5) {
    if (now >= nextReply && now < load.seconds * 1000) {
      nextReply += 1003
      const begin = Date.now()
      void api.sendMessage(1_000_000 + (now % 4), "Reply").then(() => waited.push(Date.now() - begin))
    }
    mock.timers.tick(5)
    // The promises of the bot go on before the next tick.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  mock.timers.reset()
  return {
    refused,
    lost: finals.filter((text) => load.withoutSpace(text) !== load.withoutSpace(load.tokens.join(""))).length,
    staleness: percentile(shown.flatMap(load.ages), 0.99),
    reply: percentile(waited, 0.99)
  }
}
