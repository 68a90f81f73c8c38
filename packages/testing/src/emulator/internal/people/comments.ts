import * as Effect from "effect/Effect"
import type { Person } from "../../Person.ts"
import { createComment, editComment, removeComment } from "../platform/comments.ts"
import { hasRight, isAdmin } from "../platform/members.ts"
import { type Action, type Actor, cannot, commentOf, messageOf } from "./access.ts"
import { checkText } from "./messages.ts"

const checkCommentText = (actor: Actor, text: string): Action =>
  text === "" ? cannot(actor, "a comment has a text") : checkText(actor, text)

const notTheirs = (actor: Actor): Action<never> => cannot(actor, "the comment is not theirs")

export const commentActions = (actor: Actor): Pick<Person, "comment" | "editComment" | "removeComment"> => ({
  comment: Effect.fnUntraced(function* (ref, text, { onBehalf = false, replyTo } = {}) {
    const message = yield* messageOf(actor, ref)
    const { hasComments, isClosed, type } = message.chat
    if (type !== "channel") return yield* cannot(actor, "only channel posts have comments")
    if (!hasComments || isClosed) return yield* cannot(actor, "comments are disabled there")
    yield* checkCommentText(actor, text)
    if (onBehalf && !isAdmin(message.chat, actor.self)) {
      return yield* cannot(actor, "only administrators comment on behalf of the channel")
    }
    const to = replyTo === undefined ? undefined : yield* commentOf(actor, replyTo)
    return createComment(actor.state, message, actor.self, { text, markup: [], replyTo: to }, onBehalf).value
  }),
  editComment: Effect.fnUntraced(function* (ref, text) {
    const found = yield* commentOf(actor, ref)
    if (found.author !== actor.self) return yield* notTheirs(actor)
    yield* checkCommentText(actor, text)
    editComment(actor.state, found, { text, markup: [], replyTo: undefined }, actor.self)
    return found.value
  }),
  removeComment: Effect.fnUntraced(function* (ref) {
    const found = yield* commentOf(actor, ref)
    if (found.author !== actor.self && !hasRight(found.message.chat, actor.self, "delete"))
      return yield* notTheirs(actor)
    removeComment(actor.state, found, actor.self)
  })
})
