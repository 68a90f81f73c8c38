import type { Comment } from "@colloquy/core/Comment"
import type { Message } from "@colloquy/core/Message"
import type { Update } from "@colloquy/core/Update"
import type { Content } from "./content.ts"
import { announce } from "./deliveries.ts"
import { tell } from "./hearing.ts"
import type { Account, Post, Remark } from "./model.ts"
import { markActive } from "./rooms.ts"
import { idOf, type World } from "./world.ts"

/** What a comment says. Hyperlinks and mentions do not work in comments: their text stays. */
export interface RemarkContent extends Pick<Content, "text" | "markup"> {
  readonly replyTo: Remark | undefined
}

const unsupported = new Set(["link", "user_mention"])

const bodyOf = ({ markup, text }: RemarkContent, at: Pick<Comment["body"], "mid" | "seq">): Comment["body"] => {
  const kept = markup.filter(({ type }) => !unsupported.has(type))
  return { ...at, text, ...(kept.length === 0 ? {} : { markup: kept }) }
}

const linkOf = ({ replyTo }: RemarkContent): Pick<Comment, "link"> => {
  if (replyTo === undefined) return {}
  const { body, sender } = replyTo.comment
  return { link: { type: "reply", ...(sender == null ? {} : { sender }), message: body } }
}

const announceRemark = (
  world: World,
  update_type: "comment_created" | "comment_edited",
  { comment, post }: Remark,
  by: Account
): void => {
  const { sender, ...rest } = comment
  const message: Message = sender == null ? rest : { ...rest, sender }
  const update: Update = { update_type, timestamp: world.now, message }
  announce(world, post.room, update, by)
}

const hear = (world: World, { comment, post }: Remark, by: Account): void => {
  if (by.user.is_bot) tell(world, post.room, { _tag: "Comment", chat_id: post.room.chat_id, comment })
}

/** Comments on a post; `onBehalf` of the channel, nobody is named as its sender. */
export const remark = (world: World, post: Post, author: Account, content: RemarkContent, onBehalf = false): Remark => {
  const { chat_id } = post.room
  markActive(world, post.room, author)
  const { mid, seq } = world.nextPosition(chat_id)
  const comment: Comment = {
    sender: onBehalf ? null : author.user,
    recipient: { chat_id, chat_type: "channel", post_id: post.mid },
    timestamp: world.now,
    ...linkOf(content),
    body: bodyOf(content, { mid, seq })
  }
  const made: Remark = { mid, post, author, comment }
  post.remarks.push(made)
  world.remarks.set(mid, made)
  announceRemark(world, "comment_created", made, author)
  hear(world, made, author)
  return made
}

export const rewriteRemark = (world: World, changed: Remark, content: RemarkContent, by: Account): void => {
  markActive(world, changed.post.room, by)
  const { mid, seq } = changed.comment.body
  changed.comment = { ...changed.comment, ...linkOf(content), body: bodyOf(content, { mid, seq }) }
  announceRemark(world, "comment_edited", changed, by)
  hear(world, changed, by)
}

export const withdrawRemark = (world: World, { mid, post }: Remark, by: Account): void => {
  markActive(world, post.room, by)
  post.remarks.splice(
    post.remarks.findIndex((remark) => remark.mid === mid),
    1
  )
  world.remarks.delete(mid)
  const { chat_id } = post.room
  announce(
    world,
    post.room,
    {
      update_type: "comment_removed",
      timestamp: world.now,
      message_id: mid,
      chat_id,
      user_id: idOf(by),
      post_id: post.mid
    },
    by
  )
}
