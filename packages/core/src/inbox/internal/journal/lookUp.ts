import * as Effect from "effect/Effect"
import type * as ApiError from "../../../client/ApiError.ts"
import type { Attachment } from "../../../model/Attachment.ts"
import type { LostCall } from "../../../client/Endpoint.ts"
import * as Me from "../../../endpoints/Me.ts"
import * as Platform from "../../../base/Platform.ts"
import { elementsOf, memberOf } from "../../../base/internal/wire.ts"
import type { Sent } from "../../../client/internal/journal/created.ts"

const textOf = (value: unknown): string => {
  const text = memberOf("text", value)
  return typeof text === "string" ? text : ""
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }

const decodeEntity = (entity: string, name: string): string => {
  if (!name.startsWith("#")) return entities[name] ?? entity
  const code = name[1] === "x" || name[1] === "X" ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code <= 0x10ffff ? String.fromCodePoint(code) : entity
}

/**
 * Returns a text without its markup, to compare a sent text with the text that the platform derived from it. The
 * platform keeps the characters of a text and turns the markup into ranges.
 */
const withoutMarkup = (text: string, format: unknown): string => {
  if (format === "html") return text.replace(/<[^>]*>/g, "").replace(/&(#?\w+);/g, decodeEntity)
  return format === "markdown" ? text.replace(/\]\([^)]*\)/g, "") : text
}

/** Characters that are markup, or that the platform may change. */
const ignored = (format: unknown): RegExp => (format === "markdown" ? /[\s*_~`+^#>[\]()\\-]/g : /\s/g)

const sameText = (body: unknown, sent: Sent): boolean => {
  const format = memberOf("format", body)
  const drop = ignored(format)
  const expected = withoutMarkup(textOf(body), format).replace(drop, "")
  return expected === (sent.body?.text ?? "").replace(drop, "")
}

/** Returns the properties of an attachment that are equal when the attachment is sent and when it is received. */
const traitOf = (attachment: unknown, hasCodes: boolean): string => {
  const payload = memberOf("payload", attachment)
  const type = memberOf("type", attachment)
  switch (type) {
    case "inline_keyboard":
      return `${type} ${elementsOf("buttons", payload)
        .map((row) => (Array.isArray(row) ? row.map((button) => textOf(button)).join("|") : ""))
        .join("/")}`
    case "sticker":
      return hasCodes ? `${type} ${String(memberOf("code", payload))}` : type
    case "location":
      return `${type} ${String(memberOf("latitude", attachment))} ${String(memberOf("longitude", attachment))}`
    default:
      return String(type)
  }
}

/** An uploaded image that was sent by `photos` is one attachment for each photo. */
const traitsOf = (attachments: ReadonlyArray<unknown>, hasCodes: boolean): ReadonlyArray<string> =>
  attachments
    .flatMap((attachment) => {
      const photos = memberOf("photos", memberOf("payload", attachment))
      const count = typeof photos === "object" && photos !== null ? Object.keys(photos).length : 1
      return Array.from({ length: count }, () => traitOf(attachment, hasCodes))
    })
    .sort()

const attachmentsOf = (sent: Sent): ReadonlyArray<Attachment> =>
  sent.body !== null && sent.body !== undefined && "attachments" in sent.body ? (sent.body.attachments ?? []) : []

const sameAttachments = (body: unknown, sent: Sent): boolean => {
  const attachments = elementsOf("attachments", body)
  // A sticker that is sent by its address is received with a code.
  const hasCodes = attachments.every((each) => memberOf("url", memberOf("payload", each)) === undefined)
  const expected = traitsOf(attachments, hasCodes)
  // The platform adds the preview of a link.
  const received = attachmentsOf(sent).filter(({ type }) => type !== "share" || expected.includes("share"))
  return JSON.stringify(expected) === JSON.stringify(traitsOf(received, hasCodes))
}

const sameLink = (body: unknown, sent: Sent): boolean => {
  const expected = memberOf("link", body)
  const type = memberOf("type", expected)
  if (typeof type !== "string") return sent.link == null
  const mid = sent.link?.message?.mid
  return sent.link?.type === type && (type === "forward" || mid === undefined || mid === memberOf("mid", expected))
}

/** A forwarded message has the text and the attachments of the other one. */
const isSame = (body: unknown, sent: Sent): boolean =>
  sameLink(body, sent) &&
  (memberOf("type", memberOf("link", body)) === "forward" || (sameText(body, sent) && sameAttachments(body, sent)))

const tokensOf = (attachments: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  attachments.map((attachment) => memberOf("token", memberOf("payload", attachment)))

/** How many attachments have the token that was sent. The platform may give a file another token. */
const sameTokens = (body: unknown, sent: Sent): number => {
  const received = tokensOf(attachmentsOf(sent))
  return tokensOf(elementsOf("attachments", body)).filter((token) => token !== undefined && received.includes(token))
    .length
}

/**
 * Returns the messages that a call may have sent, the best match first: messages of the bot that have the text, the
 * attachments and the link of one of the bodies. A post of a channel has no sender.
 */
export const matches = <A extends Sent>(
  bodies: ReadonlyArray<unknown>,
  botId: number,
  sent: ReadonlyArray<A>
): ReadonlyArray<A> =>
  sent
    .filter(({ sender }) => sender == null || sender.user_id === botId)
    .flatMap((message) => {
      const body = bodies.find((body) => isSame(body, message))
      return body === undefined ? [] : [{ message, tokens: sameTokens(body, message) }]
    })
    .sort((a, b) => b.tokens - a.tokens || a.message.timestamp - b.message.timestamp)
    .map(({ message }) => message)

/** The pages of a look-up, as its endpoint declares them, for one call. */
export type Page = (from: number | undefined) => Effect.Effect<ReadonlyArray<Sent>, ApiError.ApiError> | undefined

/** All messages since a time, by pages that list the latest first. */
const sentSince = (page: Page, after: number): Effect.Effect<ReadonlyArray<Sent>, ApiError.ApiError> =>
  Effect.gen(function* () {
    const sent = new Map<string, Sent>()
    let from: number | undefined
    for (;;) {
      const messages = yield* page(from) ?? Effect.succeed([])
      const { size } = sent
      for (const message of messages) {
        const { body, timestamp } = message
        if (body?.mid !== undefined && timestamp >= after) sent.set(body.mid, message)
      }
      const oldest = Math.min(...messages.map(({ timestamp }) => timestamp))
      const isNew = sent.size > size
      const isLast = oldest < after || (!isNew && messages.length < Platform.messagesPage.max)
      if (messages.length === 0 || isLast) return [...sent.values()]
      // The next page begins with the millisecond that this one ended in. A page of one millisecond is not requested again.
      from = isNew ? oldest : oldest - 1
    }
  })

/** Finds the messages that a call may have sent, the best match first. */
export const find = (
  page: Page,
  bodies: ReadonlyArray<unknown>,
  after: number,
  execute: LostCall<unknown>["execute"]
): Effect.Effect<ReadonlyArray<Sent>, ApiError.ApiError> =>
  Effect.gen(function* () {
    const sent = yield* sentSince(page, after)
    if (sent.length === 0) return []
    const { user_id } = yield* execute(Me.get, undefined)
    return matches(bodies, user_id, sent)
  }).pipe(
    // The bot may send messages to chats that the bot may not read.
    Effect.catchIf(
      ({ _tag }) => _tag === "Forbidden" || _tag === "NotFound",
      () => Effect.succeed([])
    )
  )
