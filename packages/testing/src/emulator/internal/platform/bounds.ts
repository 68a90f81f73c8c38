import type { Comment, Message } from "@colloquy/core/model/Message"
import type { Update } from "@colloquy/core/model/Update"
import type { Exchange } from "../../EmulatorHttp.ts"
import type { PersonEvent } from "../../Person.ts"
import type { EventRecord } from "./events.ts"
import type { Bounds as MapBounds } from "./keptMap.ts"
import type { Bounds } from "./log.ts"

const lengthOf = (headers: Exchange["headers"]): number => {
  let length = 0
  for (const name in headers) length += headers[name]?.length ?? 0
  return length
}

const weighExchange = ({ answer = "", body = "", headers, path, query }: Exchange): number =>
  answer.length + body.length + path.length + query.length + lengthOf(headers)

/** At least the last 50,000 entries with 64 MiB of text, at two bytes for each character. */
const textBounds = <A>(weigh: (entry: A) => number) => ({ entries: 50_000, weight: 2 ** 25, weigh })

export const exchanges = textBounds(weighExchange)

/** The assumed weight of an object that is not measured. */
const objectWeight = 300

const weighMessage = ({ body, link }: Message | Comment): number => {
  let weight = objectWeight + (body?.text?.length ?? 0) + (link?.message?.text?.length ?? 0)
  const attachments = body !== undefined && body !== null && "attachments" in body ? (body.attachments ?? []) : []
  for (const attachment of attachments) {
    weight += objectWeight
    if (attachment.type === "inline_keyboard") weight += attachment.payload.buttons.flat().length * objectWeight
  }
  return weight
}

const weighUpdate = (update: Update | undefined): number =>
  update !== undefined && "message" in update && update.message != null ? weighMessage(update.message) : objectWeight

const weigh = (event: EventRecord): number => {
  switch (event.type) {
    case "request": {
      const { answer = "", body = "" } = event.exchange
      return 2 * objectWeight + answer.length + body.length
    }
    case "message":
      return weighMessage(event.message)
    case "edited":
      return weighMessage(event.message) + weighMessage(event.previous)
    case "comment":
      return weighMessage(event.comment)
    case "comment_edited":
      return weighMessage(event.comment) + weighMessage(event.previous)
    case "update":
      return weighUpdate(event.update)
    default:
      return objectWeight
  }
}

/** 64 MiB of text. The texts of requests are shared with their journal. */
export const events = textBounds(weigh)

/** 64 MiB of text in the updates of the deliveries. */
export const deliveries = textBounds(({ update }: { readonly update: Update }) => weighUpdate(update))

/** 64 MiB of text in the updates of a bot. The updates that the bot has not received are kept in any case. */
export const updates = (neededFrom: () => number): Bounds<{ readonly update: Update }> => ({
  ...deliveries,
  neededFrom
})

/** At most 64 MiB of text in the events that people saw. */
export const seen = textBounds(({ event }: { readonly event: PersonEvent }) => {
  if (event._tag === "Comment") return weighMessage(event.comment)
  return "message" in event ? weighMessage(event.message) : objectWeight
})

/** 128 MiB of text in messages, and in comments. */
export const messages: MapBounds<{ readonly value: Message | Comment }> = {
  weight: 2 ** 26,
  weigh: ({ value }) => objectWeight + weighMessage(value)
}

/** About 100,000 objects without long texts. */
export const objects: MapBounds<unknown> = { weight: 2 ** 25, weigh: () => objectWeight }

/** 64 MiB of files. */
export const files: MapBounds<{ readonly bytes: Uint8Array }> = {
  weight: 2 ** 26,
  weigh: ({ bytes }) => bytes.byteLength
}

/** 32 MiB of addresses. */
export const urls: MapBounds<string> = { weight: 2 ** 24, weigh: ({ length }) => length }
