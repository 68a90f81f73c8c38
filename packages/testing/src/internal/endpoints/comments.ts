import type { MessageId } from "@colloquy/core/Message"
import type * as Comments from "@colloquy/core/Comments"
import * as Effect from "effect/Effect"
import { type Call, requireRight, visiblePost } from "./call.ts"
import { parseText } from "../platform/content.ts"
import type { Post, Remark } from "../platform/model.ts"
import * as refusal from "../http/refusal.ts"
import { remark, rewriteRemark, withdrawRemark } from "../platform/remarks.ts"
import { hasRight, isAdmin } from "../platform/rooms.ts"
import type { Handlers } from "./handler.ts"

const defaultCount = 50

/** @assumption B A comment can be edited for 26 hours. */
const editableFor = 26 * 60 * 60 * 1000

const channelPost = (call: Call, mid: MessageId): Effect.Effect<Post, refusal.Refusal> =>
  Effect.flatMap(visiblePost(call, mid), (post) =>
    post.room.type === "channel" ? Effect.succeed(post) : refusal.messageNotFound(mid)
  )

/** A post whose comments the bot may read. */
const readablePost = (call: Call, mid: MessageId): Effect.Effect<Post, refusal.Refusal> =>
  Effect.tap(channelPost(call, mid), ({ room }) =>
    isAdmin(room, call.bot.account) ? requireRight(call, room, "read_all_messages") : refusal.notAdmin()
  )

const remarkUnder = ({ world }: Call, post: Post, mid: MessageId): Effect.Effect<Remark, refusal.Refusal> =>
  Effect.suspend(() => {
    const found = world.remarks.get(mid)
    return found?.post === post ? Effect.succeed(found) : refusal.messageNotFound(mid)
  })

const readRemark = Effect.fnUntraced(function* (
  call: Call,
  post: Post,
  { format, link, text }: Pick<Comments.SendRequest, "format" | "link" | "text">,
  self?: MessageId
) {
  const replyTo = link == null ? undefined : yield* remarkUnder(call, post, link.mid)
  if (replyTo !== undefined && replyTo.mid === self) return yield* refusal.replyToItself()
  if (text === "") return yield* refusal.invalidPayload("text: a comment must have one")
  return { ...parseText(text, format), replyTo }
})

/** The bot's own comment, or one on behalf of the channel where it has the right. */
const mayChange = (
  { bot }: Call,
  { author, comment, post }: Remark,
  right: "edit" | "delete"
): Effect.Effect<void, refusal.Refusal> => {
  const isForeign = right === "edit" && comment.sender != null
  return author === bot.account || (!isForeign && hasRight(post.room, bot.account, right))
    ? Effect.void
    : refusal.accessDenied("The comment is not the bot's own")
}

export const comments: Handlers<typeof Comments> = {
  list: ({ after = -Infinity, before = Infinity, comment_ids, count = defaultCount, marker, message_id }, call) =>
    Effect.map(readablePost(call, message_id), ({ remarks }) => {
      const newestFirst = remarks.map(({ comment }) => comment).reverse()
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
    const post = yield* readablePost(call, message_id)
    return (yield* remarkUnder(call, post, comment_id)).comment
  }),

  send: Effect.fnUntraced(function* ({ message_id, ...body }, call) {
    const post = yield* readablePost(call, message_id)
    yield* requireRight(call, post.room, "write")
    if (!post.room.hasComments || post.room.isClosed) {
      return yield* refusal.chatDenied("Comments are disabled in the channel")
    }
    return remark(call.world, post, call.bot.account, yield* readRemark(call, post, body)).comment
  }),

  edit: Effect.fnUntraced(function* ({ comment_id, message_id, ...body }, call) {
    const post = yield* channelPost(call, message_id)
    const found = yield* remarkUnder(call, post, comment_id)
    yield* mayChange(call, found, "edit")
    if (call.world.now - found.comment.timestamp > editableFor) return yield* refusal.commentTooOld()
    rewriteRemark(call.world, found, yield* readRemark(call, post, body, comment_id), call.bot.account)
  }),

  remove: Effect.fnUntraced(function* ({ comment_id, message_id }, call) {
    const found = yield* remarkUnder(call, yield* channelPost(call, message_id), comment_id)
    yield* mayChange(call, found, "delete")
    withdrawRemark(call.world, found, call.bot.account)
  })
}
