import * as Effect from "effect/Effect"
import type { Person } from "../../Person.ts"
import { remark, rewriteRemark, withdrawRemark } from "../platform/remarks.ts"
import { hasRight, isAdmin } from "../platform/rooms.ts"
import { postOf, remarkOf } from "./access.ts"
import { type Actor, cannot, type Doing } from "./actor.ts"
import { speakable } from "./saying.ts"

const speakableComment = (actor: Actor, text: string): Doing =>
  text === "" ? cannot(actor, "a comment has a text") : speakable(actor, text)

const notTheirs = (actor: Actor): Doing<never> => cannot(actor, "the comment is not theirs")

/** What a person does with comments. */
export const commenting = (actor: Actor): Pick<Person, "comment" | "editComment" | "removeComment"> => ({
  comment: Effect.fnUntraced(function* (ref, text, { onBehalf = false, replyTo } = {}) {
    const post = yield* postOf(actor, ref)
    const { hasComments, isClosed, type } = post.room
    if (type !== "channel") return yield* cannot(actor, "comments are for the posts of channels")
    if (!hasComments || isClosed) return yield* cannot(actor, "comments are disabled there")
    yield* speakableComment(actor, text)
    if (onBehalf && !isAdmin(post.room, actor.self)) {
      return yield* cannot(actor, "they do not speak for the channel")
    }
    const to = replyTo === undefined ? undefined : yield* remarkOf(actor, replyTo)
    return remark(actor.world, post, actor.self, { text, markup: [], replyTo: to }, onBehalf).comment
  }),
  editComment: Effect.fnUntraced(function* (ref, text) {
    const found = yield* remarkOf(actor, ref)
    if (found.author !== actor.self) return yield* notTheirs(actor)
    yield* speakableComment(actor, text)
    rewriteRemark(actor.world, found, { text, markup: [], replyTo: undefined }, actor.self)
    return found.comment
  }),
  removeComment: Effect.fnUntraced(function* (ref) {
    const found = yield* remarkOf(actor, ref)
    if (found.author !== actor.self && !hasRight(found.post.room, actor.self, "delete")) return yield* notTheirs(actor)
    withdrawRemark(actor.world, found, actor.self)
  })
})
