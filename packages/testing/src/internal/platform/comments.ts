import type { Comment } from "@colloquy/core/Comment"
import type { Message } from "@colloquy/core/Message"
import type { Update } from "@colloquy/core/Update"
import type { Content } from "./content.ts"
import { notifyBots } from "./updates.ts"
import { recordEvent } from "./events.ts"
import type { UserState, MessageState, CommentState } from "./model.ts"
import { markActive } from "./chats.ts"
import { idOf, type PlatformState } from "./state.ts"

/** What a comment says. Hyperlinks and mentions do not work in comments: their text stays. */
export interface CommentContent extends Pick<Content, "text" | "markup"> {
  readonly replyTo: CommentState | undefined
}

const unsupported = new Set(["link", "user_mention"])

const bodyOf = ({ markup, text }: CommentContent, at: Pick<Comment["body"], "mid" | "seq">): Comment["body"] => {
  const kept = markup.filter(({ type }) => !unsupported.has(type))
  return { ...at, text, ...(kept.length === 0 ? {} : { markup: kept }) }
}

const linkOf = ({ replyTo }: CommentContent): Pick<Comment, "link"> => {
  if (replyTo === undefined) return {}
  const { body, sender } = replyTo.value
  return { link: { type: "reply", ...(sender == null ? {} : { sender }), message: body } }
}

const notifyOfComment = (
  state: PlatformState,
  update_type: "comment_created" | "comment_edited",
  { message: { chat }, value }: CommentState,
  by: UserState
): void => {
  const { sender, ...rest } = value
  const message: Message = sender == null ? rest : { ...rest, sender }
  const update: Update = { update_type, timestamp: state.now, message }
  notifyBots(state, chat, update, by)
}

const recordComment = (state: PlatformState, { value: comment, message }: CommentState, by: UserState): void => {
  if (by.profile.is_bot) recordEvent(state, message.chat, { _tag: "Comment", chat_id: message.chat.chat_id, comment })
}

/** Comments on a post; `onBehalf` of the channel, nobody is named as its sender. */
export const createComment = (
  state: PlatformState,
  message: MessageState,
  author: UserState,
  content: CommentContent,
  onBehalf = false
): CommentState => {
  const { chat_id } = message.chat
  markActive(state, message.chat, author)
  const { mid, seq } = state.nextPosition(chat_id)
  const comment: Comment = {
    sender: onBehalf ? null : author.profile,
    recipient: { chat_id, chat_type: "channel", post_id: message.mid },
    timestamp: state.now,
    ...linkOf(content),
    body: bodyOf(content, { mid, seq })
  }
  const made: CommentState = { mid, message, author, value: comment }
  message.comments.push(made)
  state.comments.set(mid, made)
  notifyOfComment(state, "comment_created", made, author)
  recordComment(state, made, author)
  return made
}

export const editComment = (
  state: PlatformState,
  changed: CommentState,
  content: CommentContent,
  by: UserState
): void => {
  markActive(state, changed.message.chat, by)
  const { mid, seq } = changed.value.body
  changed.value = { ...changed.value, ...linkOf(content), body: bodyOf(content, { mid, seq }) }
  notifyOfComment(state, "comment_edited", changed, by)
  recordComment(state, changed, by)
}

export const removeComment = (state: PlatformState, { mid, message }: CommentState, by: UserState): void => {
  markActive(state, message.chat, by)
  message.comments.splice(
    message.comments.findIndex((comment) => comment.mid === mid),
    1
  )
  state.comments.delete(mid)
  const { chat_id } = message.chat
  notifyBots(
    state,
    message.chat,
    {
      update_type: "comment_removed",
      timestamp: state.now,
      message_id: mid,
      chat_id,
      user_id: idOf(by),
      post_id: message.mid
    },
    by
  )
}
