import type * as Comments from "@colloquy/core/endpoints/Comments"
import type { MessageId } from "@colloquy/core/model/Message"
import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import * as refusal from "../http/refusal.ts"
import { type CommentContent, createComment, editComment, removeComment } from "../platform/comments.ts"
import { hasRight, isAdmin } from "../platform/members.ts"
import { type CommentState, type MessageState, now } from "../platform/state.ts"
import { type Call, type Handlers, requireRight, visibleMessage } from "./call.ts"
import { parseText } from "../text/parse.ts"

const channelMessage = (call: Call, mid: MessageId): refusal.Refusable<MessageState> =>
  Effect.flatMap(visibleMessage(call, mid), (message) =>
    message.chat.type === "channel" ? Effect.succeed(message) : refusal.messageNotFound(mid)
  )

/** Finds a channel post whose comments the bot may read. */
const readableMessage = (call: Call, mid: MessageId): refusal.Refusable<MessageState> =>
  Effect.tap(channelMessage(call, mid), ({ chat }) =>
    isAdmin(chat, call.bot.user) ? requireRight(call, chat, "read_all_messages") : refusal.notAdmin()
  )

const commentOn = ({ state }: Call, message: MessageState, mid: MessageId): refusal.Refusable<CommentState> =>
  Effect.suspend(() => {
    const found = state.comments.get(mid)
    return found?.message === message ? Effect.succeed(found) : refusal.messageNotFound(mid)
  })

const textOf = (comment: CommentState | undefined): Pick<CommentContent, "text" | "markup"> => ({
  text: comment?.value.body.text ?? "",
  markup: comment?.value.body.markup ?? []
})

const readComment = Effect.fnUntraced(function* (
  call: Call,
  message: MessageState,
  { format, link, text }: Pick<Comments.EditRequest, "format" | "link" | "text">,
  edited?: CommentState
) {
  const replyTo = link == null ? undefined : yield* commentOn(call, message, link.mid)
  if (replyTo !== undefined && replyTo.mid === edited?.mid) return yield* refusal.replyToItself()
  if (text === "") return yield* refusal.invalidPayload("text: a comment must have one")
  return { ...(text == null ? textOf(edited) : parseText(text, format)), replyTo }
})

/** The bot may edit its own comments, and with the right, comments on behalf of the channel. */
const mayEdit = ({ bot }: Call, { author, message, value: comment }: CommentState): refusal.Refusable<void> =>
  author === bot.user || (comment.sender == null && hasRight(message.chat, bot.user, "edit"))
    ? Effect.void
    : refusal.accessDenied("The comment is not the bot's own")

export const comments: Handlers<typeof Comments> = {
  list: (
    { after = -Infinity, before = Infinity, comment_ids, count = Platform.commentsPage.default, marker, message_id },
    call
  ) =>
    Effect.map(readableMessage(call, message_id), ({ comments }) => {
      const newestFirst = comments.map(({ value: comment }) => comment).reverse()
      if (comment_ids !== undefined) {
        return { messages: newestFirst.filter(({ body }) => comment_ids.includes(body.mid)) }
      }
      const matching = newestFirst.filter(
        ({ body, timestamp }) => timestamp > after && timestamp < before && (marker == null || body.seq < marker)
      )
      const messages = matching.slice(0, count)
      const last = messages.at(-1)
      return { messages, ...(last && matching.length > count ? { marker: last.body.seq } : {}) }
    }),

  get: Effect.fnUntraced(function* ({ comment_id, message_id }, call) {
    const message = yield* readableMessage(call, message_id)
    return (yield* commentOn(call, message, comment_id)).value
  }),

  send: Effect.fnUntraced(function* ({ message_id, ...body }, call) {
    const message = yield* readableMessage(call, message_id)
    yield* requireRight(call, message.chat, "write")
    if (!message.chat.hasComments || message.chat.isClosed) {
      return yield* refusal.chatDenied("Comments are disabled in the channel")
    }
    return createComment(call.state, message, call.bot.user, yield* readComment(call, message, body)).value
  }),

  edit: Effect.fnUntraced(function* ({ comment_id, message_id, ...body }, call) {
    const message = yield* channelMessage(call, message_id)
    const found = yield* commentOn(call, message, comment_id)
    yield* mayEdit(call, found)
    if (now(call.state) - found.value.timestamp > Platform.commentEditWindow) return yield* refusal.commentTooOld()
    editComment(call.state, found, yield* readComment(call, message, body, found), call.bot.user)
  }),

  /** @assumption commentRemoval */
  remove: Effect.fnUntraced(function* ({ comment_id, message_id }, call) {
    const message = yield* readableMessage(call, message_id)
    yield* requireRight(call, message.chat, "delete")
    const found = yield* commentOn(call, message, comment_id)
    removeComment(call.state, found, call.bot.user)
  })
}
