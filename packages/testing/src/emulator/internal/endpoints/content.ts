import type { Attachment } from "@colloquy/core/model/Attachment"
import type { AttachmentRequest, PhotoAttachmentRequestPayload } from "@colloquy/core/model/AttachmentRequest"
import * as Json from "@colloquy/core/base/Json"
import type { NewMessageBody, NewMessageLink } from "@colloquy/core/model/NewMessage"
import * as Platform from "@colloquy/core/base/Platform"
import type { UploadType } from "@colloquy/core/endpoints/Upload"
import { UserId } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import * as refusal from "../http/refusal.ts"
import { vCardOf } from "../platform/contacts.ts"
import { createMedia, isReady, toAttachment } from "../platform/media.ts"
import { type Content, contentOf, emptyContent, isEmpty, linkTo, mayForward } from "../platform/messages.ts"
import { type ChatState, type MessageState, now, type PlatformState } from "../platform/state.ts"
import { fullNameOf } from "../platform/users.ts"
import { defined } from "../platform/validation.ts"
import { parseText } from "../text/parse.ts"
import { type Call, visibleMessage } from "./call.ts"

const contactOf = (
  call: Call,
  { contact_id, name, vcf_info, vcf_phone }: Extract<AttachmentRequest, { type: "contact" }>["payload"]
): Attachment => {
  const known = contact_id == null ? undefined : call.state.users.get(UserId.make(contact_id))?.profile
  const shownName = name ?? (known === undefined ? "" : fullNameOf(known))
  return {
    type: "contact",
    payload: {
      vcf_info: vcf_info ?? vCardOf(shownName, ...(vcf_phone == null ? [] : [vcf_phone])),
      ...(known === undefined ? {} : { max_info: known })
    }
  }
}

const stickerUrl = (code: string) => `https://media.emulator.test/stickers/${encodeURIComponent(code)}`

/** The code of a sticker that is sent by its address. */
const codeOf = (url: string): string => url.slice(url.lastIndexOf("/") + 1) || "sticker"

/** The image at a URL, which the platform copies at once. */
const copyImage = (state: PlatformState, url: string): refusal.Refusable<Attachment> =>
  Effect.suspend(() => {
    if (!/^https?:/i.test(url) || !URL.canParse(url)) {
      return refusal.invalidPayload(`url: must be the address of a picture, is ${JSON.stringify(url)}`)
    }
    const media = createMedia(state, "image", { sourceUrl: url })
    media.readyAt = now(state)
    return Effect.succeed(toAttachment(state, media))
  })

const uploaded = (state: PlatformState, type: UploadType, token: string): refusal.Refusable<Attachment> =>
  Effect.suspend((): refusal.Refusable<Attachment> => {
    const media = state.media.get(token)
    if (media === undefined || media.type !== type)
      return refusal.invalidPayload(`token: no ${type} has the token ${token}`)
    return isReady(state, media)
      ? Effect.succeed(toAttachment(state, media))
      : refusal.attachmentNotReady(type === "video" ? "video" : "file")
  })

/** Reads the payload of an image. An upload of several images becomes several attachments. */
export const readImages = (
  { state }: Call,
  { photos, token, url }: PhotoAttachmentRequestPayload
): refusal.Refusable<ReadonlyArray<Attachment>> => {
  if (url != null) return Effect.map(copyImage(state, url), (attachment) => [attachment])
  const tokens = token == null ? Object.values(photos ?? {}).map((photo) => photo.token) : [token]
  if (tokens.length === 0) return refusal.invalidPayload("photos: must hold at least one token")
  return Effect.forEach(tokens, (token) => uploaded(state, "image", token))
}

const readAttachment = (call: Call, request: AttachmentRequest): refusal.Refusable<ReadonlyArray<Attachment>> => {
  switch (request.type) {
    case "image":
      return readImages(call, request.payload)
    case "video":
    case "audio":
    case "file":
      return Effect.map(uploaded(call.state, request.type, request.payload.token), (attachment) => [attachment])
    case "sticker": {
      const code = request.payload.code ?? codeOf(request.payload.url!)
      const url = request.payload.url ?? stickerUrl(code)
      return Effect.succeed([{ type: "sticker", payload: { code, url }, width: 512, height: 512 }])
    }
    case "contact":
      return Effect.succeed([contactOf(call, request.payload)])
    case "share": {
      const { token, url } = request.payload
      return Effect.succeed([{ type: "share", payload: defined({ url, token }) }])
    }
    case "inline_keyboard": {
      const unknown = request.payload.buttons.flat().find((button) => button.type === "unknown")
      return unknown === undefined
        ? Effect.succeed([request])
        : refusal.invalidPayload(`buttons: there is no such button: ${Json.stringify(unknown.raw)}`)
    }
    case "location":
      return Effect.succeed([request])
  }
}

/** @assumption repliesAcrossChats */
const readLink = Effect.fnUntraced(function* (call: Call, { mid, type }: NewMessageLink) {
  if (call.state.comments.has(mid)) return yield* refusal.invalidPayload("link: comments cannot be linked to")
  const message = yield* visibleMessage(call, mid)
  if (type === "forward" && !mayForward(call.state, message)) return yield* refusal.forwardingProhibited()
  return linkTo(type, message)
})

/**
 * Reads the content of a message from a request. In an edit, missing fields do not change the message; an empty list of
 * attachments removes all attachments.
 */
export const readContent = Effect.fnUntracedEager(function* (
  call: Call,
  chat: ChatState,
  { attachments, format, link, notify, text }: NewMessageBody,
  edited?: MessageState
) {
  const before = edited === undefined ? emptyContent : contentOf(edited)
  if (chat.type === "channel" && notify === false) {
    return yield* refusal.invalidPayload("notify: must be true or left out for a channel")
  }
  if (link != null && link.mid === edited?.mid) return yield* refusal.replyToItself()
  const attached =
    attachments == null
      ? before.attachments
      : (yield* Effect.forEach(attachments, (request, index) =>
          Effect.mapError(readAttachment(call, request), refusal.inField(`attachments[${index}].payload`))
        )).flat()
  if (attached.length > Platform.maxAttachments) {
    return yield* refusal.invalidPayload(`attachments: a message has at most ${Platform.maxAttachments}`)
  }
  const content: Content = {
    ...(text == null ? { text: before.text, markup: before.markup } : parseText(text, format)),
    attachments: attached,
    link: link == null ? before.link : yield* readLink(call, link)
  }
  return isEmpty(content)
    ? yield* refusal.invalidPayload("text, attachments, link: a message must have one of them")
    : content
})
