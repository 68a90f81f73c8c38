import type { Attachment } from "@colloquy/core/model/Attachment"
import * as Text from "@colloquy/core/model/Text"
import type {
  ChatState,
  CommentState,
  MediaState,
  MemberState,
  MessageState,
  PlatformState
} from "../platform/state.ts"
import { idOf } from "../platform/users.ts"
import { defined } from "../platform/validation.ts"
import type { Seed, SeedChat, SeedComment, SeedMessage } from "./declarations.ts"

/** A seed has no flags that are not set. */
const ifTrue = (flag: boolean): true | undefined => (flag ? true : undefined)

/** The text, as HTML if the text has markup. */
const textOf = ({
  body
}: MessageState["value"] | CommentState["value"]): { readonly text?: string; readonly format?: "html" } => {
  if (!body?.text) return {}
  return (body.markup ?? []).length === 0
    ? { text: body.text }
    : { text: Text.toHtml(Text.fromBody(body)), format: "html" }
}

/** An attachment in a form that the author can send again. */
const toSeedAttachment = (attachment: Attachment, isBot: boolean): unknown => {
  switch (attachment.type) {
    case "image":
    case "video":
    case "audio":
    case "file":
      return { type: attachment.type, payload: { token: attachment.payload?.token } }
    case "sticker":
      return isBot ? { type: "sticker", payload: { code: attachment.payload?.code } } : attachment
    case "contact":
      return isBot ? { type: "contact", payload: { vcf_info: attachment.payload?.vcf_info } } : attachment
    default:
      return attachment
  }
}

/** The place of the linked message, if that message is earlier in the seed. */
const linkOf = (
  chats: ReadonlyArray<ChatState>,
  { chat, value }: MessageState,
  index: number
): SeedMessage["link"] | undefined => {
  const { link } = value
  const mid = link?.message?.mid
  if (link == null || mid === undefined) return undefined
  const type = link.type === "forward" ? "forward" : "reply"
  for (const each of chats.slice(0, chats.indexOf(chat) + 1)) {
    const found = each.messages.findIndex((message) => message.mid === mid)
    if (found < 0 || (each === chat && found >= index)) continue
    return { type, index: found, ...(each === chat ? {} : { chat_id: each.chat_id }) }
  }
  return undefined
}

const toSeedComment = (all: ReadonlyArray<CommentState>, { author, mid, value }: CommentState): SeedComment => {
  const replied = value.link?.message?.mid
  const reply_to = replied === undefined ? -1 : all.findIndex((each) => each.mid === replied)
  return {
    user_id: idOf(author),
    mid,
    timestamp: value.timestamp,
    text: "",
    ...textOf(value),
    ...(value.sender == null ? { on_behalf: true } : {}),
    ...(reply_to < 0 ? {} : { reply_to })
  }
}

const isBotMember = ({ user }: MemberState): boolean => user.profile.is_bot

const botIn = ({ members }: ChatState): MemberState | undefined => [...members.values()].find(isBotMember)

const toSeedMessage = (chats: ReadonlyArray<ChatState>, message: MessageState, index: number): SeedMessage => {
  const { author, comments, value } = message
  const isBot = author.profile.is_bot
  const attachments = (value.body?.attachments ?? []).map((each) => toSeedAttachment(each, isBot))
  const link = linkOf(chats, message, index)
  const text = textOf(value)
  // For a forwarded message that is missing in the seed, the text remains.
  const rest =
    text.text === undefined && attachments.length === 0 && link === undefined ? value.link?.message : undefined
  const chatBot = botIn(message.chat)
  return {
    ...(isBot ? (author === chatBot?.user ? {} : { bot_id: idOf(author) }) : { user_id: idOf(author) }),
    mid: message.mid,
    timestamp: value.timestamp,
    ...text,
    ...(rest == null ? {} : { text: rest.text || "(forwarded message)" }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(link === undefined ? {} : { link }),
    ...(comments.length === 0 ? {} : { comments: comments.map((comment) => toSeedComment(comments, comment)) })
  }
}

const toSeedChat = (chats: ReadonlyArray<ChatState>, chat: ChatState): SeedChat => {
  const bot = botIn(chat)
  const people = [...chat.members.values()].filter((member) => !isBotMember(member))
  const admins = people.filter(({ rights, user }) => rights !== undefined && chat.owner !== idOf(user))
  const pinned = chat.pinned === undefined ? -1 : chat.messages.indexOf(chat.pinned)
  const group = {
    title: chat.title,
    ...(chat.owner === undefined ? {} : { owner_id: chat.owner }),
    bot:
      bot === undefined
        ? (false as const)
        : bot.rights === undefined
          ? { admin: false }
          : { permissions: [...bot.rights] },
    is_public: chat.link !== null,
    has_comments: chat.hasComments,
    ...(chat.allowsForwarding ? {} : { allows_forwarding: false }),
    admins: admins.map(({ rights, user }) => ({ user_id: idOf(user), permissions: [...rights!] }))
  }
  return {
    type: chat.type,
    chat_id: chat.chat_id,
    ...(bot === undefined ? {} : { bot_id: idOf(bot.user) }),
    members: people.map(({ user }) => idOf(user)),
    ...(chat.type === "dialog" ? {} : group),
    ...(chat.description === null ? {} : { description: chat.description }),
    messages: chat.messages.map((message, index) => toSeedMessage(chats, message, index)),
    ...(pinned < 0 ? {} : { pinned }),
    ...defined({ is_stopped: ifTrue(chat.isSuspended), is_closed: ifTrue(chat.isClosed) })
  }
}

const toSeedMedia = ({ files }: PlatformState, { filename, photo_id, size, sourceUrl, token, type }: MediaState) => {
  const content = files.get(String(photo_id))?.bytes
  return { type, token, ...defined({ filename, size: size === 0 ? undefined : size, url: sourceUrl, content }) }
}

/**
 * The state as a seed, with the ids and the times of messages and comments, but without updates, requests, deliveries,
 * faults, webhooks, the history of edits, removed messages, and views.
 */
export const toSeed = (state: PlatformState): Seed => {
  const chats = [...state.chats.values()]
  const people = [...state.users.values()].filter(({ profile }) => !profile.is_bot)
  const media = [...state.media.values()].filter(({ readyAt }) => readyAt !== undefined)
  return {
    users: people.map(({ isPrivate, locale, location, phone, profile }) => {
      const { is_bot: _, last_activity_time, name: __, ...rest } = profile
      const hides_activity = ifTrue(last_activity_time === undefined)
      return { ...rest, phone, location, ...defined({ locale, is_private: ifTrue(isPrivate), hides_activity }) }
    }),
    media: media.map((each) => toSeedMedia(state, each)),
    chats: chats.map((chat) => toSeedChat(chats, chat)),
    silent: true,
    unchecked: true
  }
}
