/**
 * A small Telegram Bot API for grammY with the same limits as the platform: a number of requests per second in total,
 * and two messages per second per chat. A request over the limit gets a 429 and does not count.
 */
import type { UserFromGetMe } from "grammy/types"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { listen } from "./processes.ts"

export const me = {
  id: 7,
  is_bot: true,
  first_name: "Bench",
  username: "bench_bot",
  can_join_groups: true,
  can_read_all_group_messages: false,
  supports_inline_queries: false
} as UserFromGetMe

interface Call {
  readonly chat_id?: number
  readonly text?: string
}

/** Counts a request of a chat at a time in milliseconds. Returns whether the limits allow the request. */
export type Limits = (now: number, chat: number | undefined) => boolean

export const unlimited: Limits = () => true

/** A sliding window of one second. */
const sliding = (count: number) => {
  const times: Array<number> = []
  return {
    hasPlace: (now: number) => {
      while (times[0] <= now - 1000) times.shift()
      return times.length < count
    },
    take: (now: number) => void times.push(now)
  }
}

/** Two messages per second for each chat, and a number of requests for the bot. */
export const platformLimits = (perSecond: number): Limits => {
  const host = sliding(perSecond)
  const chats = new Map<number, ReturnType<typeof sliding>>()
  return (now, chat) => {
    if (chat !== undefined && !chats.has(chat)) chats.set(chat, sliding(2))
    const ofChat = chat === undefined ? undefined : chats.get(chat)
    if (!host.hasPlace(now) || ofChat?.hasPlace(now) === false) return false
    host.take(now)
    ofChat?.take(now)
    return true
  }
}

/** The body of the response to a message, or to a message that the limits refuse. */
export const respond = (isAllowed: boolean, { chat_id, text }: Call): object => {
  const chat = { id: chat_id, first_name: "Ann", username: "ann", type: "private" }
  return isAllowed
    ? { ok: true, result: { message_id: 100, from: me, chat, date: 1_774_000_000, text } }
    : { ok: false, error_code: 429, description: "Too Many Requests", parameters: { retry_after: 1 } }
}

export const startTelegram = async (limits: Limits) => {
  const counts = { accepted: 0, refused: 0 }
  const server = createServer(async (request, response) => {
    const call = JSON.parse((await text(request)) || "{}") as Call
    const isAllowed = limits(performance.now(), call.chat_id)
    counts[isAllowed ? "accepted" : "refused"]++
    response.writeHead(isAllowed ? 200 : 429, { "content-type": "application/json" })
    response.end(JSON.stringify(respond(isAllowed, call)))
  })
  return {
    apiRoot: await listen(server),
    counts,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
