import type { Comment, Message } from "@colloquy/core/model/Message"
import type { Update } from "@colloquy/core/model/Update"
import { nextPosition, type Position } from "./ids.ts"
import { byUser, emit } from "./events.ts"
import { recordActivity } from "./members.ts"
import { type Content, recordIfBot } from "./messages.ts"
import { type CommentState, type MessageState, now, type PlatformState, type UserState } from "./state.ts"
import { notifyBots } from "./updates.ts"
import { idOf } from "./users.ts"

/** The content of a comment. */
export interface CommentContent extends Pick<Content, "text" | "markup"> {
  readonly replyTo: CommentState | undefined
}

/** Hyperlinks and mentions do not work in comments: only their text remains. */
const unsupportedMarkup = new Set(["link", "user_mention"])

const bodyOf = ({ markup, text }: CommentContent, at: Pick<Comment["body"], "mid" | "seq">): Comment["body"] => {
  const kept = markup.filter(({ type }) => !unsupportedMarkup.has(type))
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
  const update: Update = { update_type, timestamp: now(state), message }
  notifyBots(state, chat, update, by)
}

/** Comments on a post, now, or at the position that the comment had. A comment `onBehalf` of the channel has no sender. */
export const createComment = (
  state: PlatformState,
  message: MessageState,
  author: UserState,
  content: CommentContent,
  onBehalf = false,
  position: Position = nextPosition(state, message.chat.chat_id)
): CommentState => {
  const { chat_id } = message.chat
  recordActivity(state, message.chat, author)
  const { mid, seq, timestamp } = position
  const comment: Comment = {
    sender: onBehalf ? null : author.profile,
    recipient: { chat_id, chat_type: "channel", post_id: message.mid },
    timestamp,
    ...linkOf(content),
    body: bodyOf(content, { mid, seq })
  }
  const made: CommentState = { mid, message, author, value: comment }
  message.comments.push(made)
  state.comments.set(mid, made)
  notifyOfComment(state, "comment_created", made, author)
  emit(state, { type: "comment", ...byUser(message.chat, author), comment })
  recordIfBot(state, message.chat, author, { _tag: "Comment", chat_id, comment })
  return made
}

export const editComment = (
  state: PlatformState,
  changed: CommentState,
  content: CommentContent,
  by: UserState
): void => {
  const { chat } = changed.message
  recordActivity(state, chat, by)
  const { mid, seq } = changed.value.body
  const previous = changed.value
  state.comments.change(changed, () => {
    changed.value = { ...changed.value, ...linkOf(content), body: bodyOf(content, { mid, seq }) }
  })
  notifyOfComment(state, "comment_edited", changed, by)
  emit(state, { type: "comment_edited", ...byUser(chat, by), comment: changed.value, previous })
  recordIfBot(state, chat, by, { _tag: "Comment", chat_id: chat.chat_id, comment: changed.value })
}

export const removeComment = (state: PlatformState, comment: CommentState, by: UserState): void => {
  const { message, mid } = comment
  const { chat } = message
  recordActivity(state, chat, by)
  message.comments.splice(message.comments.indexOf(comment), 1)
  state.comments.delete(mid)
  const where = { message_id: mid, chat_id: chat.chat_id, user_id: idOf(by), post_id: message.mid }
  notifyBots(state, chat, { update_type: "comment_removed", timestamp: now(state), ...where }, by)
  emit(state, { type: "comment_removed", ...byUser(chat, by), comment_id: mid, message_id: message.mid })
}
