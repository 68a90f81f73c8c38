/**
 * A small Telegram Bot API for grammY with the same limits as the platform: a number of requests per second in total,
 * and two messages per second per chat. A request over the limit gets a 429 and does not count.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

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

export interface Telegram {
  readonly apiRoot: string
  readonly counts: { accepted: number; refused: number }
  readonly close: () => void
}

export const startTelegram = async (perSecond: number): Promise<Telegram> => {
  const host = sliding(perSecond)
  const chats = new Map<unknown, ReturnType<typeof sliding>>()
  const counts = { accepted: 0, refused: 0 }
  const server = createServer(async (request, response) => {
    let text = ""
    for await (const chunk of request) text += String(chunk)
    const now = performance.now()
    const { chat_id } = JSON.parse(text || "{}") as { readonly chat_id?: number }
    const chat = chat_id === undefined ? undefined : (chats.get(chat_id) ?? sliding(2))
    const fits = host.hasPlace(now) && (chat?.hasPlace(now) ?? true)
    if (fits) {
      host.take(now)
      chat?.take(now)
      if (chat !== undefined) chats.set(chat_id, chat)
      counts.accepted++
    } else counts.refused++
    const answer = fits
      ? { ok: true, result: { message_id: 1, date: 0, chat: { id: chat_id, type: "private", first_name: "Ann" } } }
      : { ok: false, error_code: 429, description: "Too Many Requests", parameters: { retry_after: 1 } }
    response.writeHead(fits ? 200 : 429, { "content-type": "application/json" }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    apiRoot: `http://127.0.0.1:${port}`,
    counts,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
