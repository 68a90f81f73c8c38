import type { Permission } from "@colloquy/core/Member"
import * as Effect from "effect/Effect"
import type { ChatRef, CommentRef, MessageRef } from "../../Person.ts"
import type { Post, Remark, Room } from "../platform/model.ts"
import { chatIdOf, midOf } from "../platform/refs.ts"
import { hasRight } from "../platform/rooms.ts"
import { idOf } from "../platform/world.ts"
import { type Actor, cannot, type Doing } from "./actor.ts"

const isIn = ({ self }: Actor, room: Room): boolean => room.members.has(idOf(self))

export const roomOf = (actor: Actor, ref: ChatRef): Doing<Room> =>
  Effect.suspend((): Doing<Room> => {
    const room = actor.world.rooms.get(chatIdOf(ref))
    return room === undefined ? cannot(actor, `there is no chat ${chatIdOf(ref)}`) : Effect.succeed(room)
  })

/** A chat that they take part in. */
export const ownRoom = (actor: Actor, ref: ChatRef): Doing<Room> =>
  Effect.tap(roomOf(actor, ref), (room) =>
    isIn(actor, room) ? Effect.void : cannot(actor, `they are not in chat ${room.chat_id}`)
  )

const requireOpen = (actor: Actor, { isClosed }: Room): Doing =>
  isClosed ? cannot(actor, "the chat is closed") : Effect.void

const lacking = (actor: Actor, right: Permission): Doing<never> => cannot(actor, `they lack the right ${right}`)

/** A chat in which they may do what in a channel needs a right. */
const roomWithRight = (actor: Actor, ref: ChatRef, right: Permission): Doing<Room> =>
  Effect.tap(ownRoom(actor, ref), (room) =>
    room.type === "chat" || (room.type === "dialog" && right === "write") || hasRight(room, actor.self, right)
      ? Effect.void
      : lacking(actor, right)
  )

export const openRoom = (actor: Actor, ref: ChatRef, right: Permission): Doing<Room> =>
  Effect.tap(roomWithRight(actor, ref, right), (room) => requireOpen(actor, room))

/** An open chat in which they are an administrator with a right. */
export const administered = (actor: Actor, ref: ChatRef, right: Permission): Doing<Room> =>
  ownRoom(actor, ref).pipe(
    Effect.tap((room) => (hasRight(room, actor.self, right) ? Effect.void : lacking(actor, right))),
    Effect.tap((room) => requireOpen(actor, room))
  )

/** A message that they see. */
export const postOf = (actor: Actor, ref: MessageRef): Doing<Post> =>
  Effect.suspend((): Doing<Post> => {
    const mid = midOf(ref)
    const post = mid === undefined ? undefined : actor.world.posts.get(mid)
    return post !== undefined && isIn(actor, post.room)
      ? Effect.succeed(post)
      : cannot(actor, `they see no message ${mid ?? "without an id"}`)
  })

/** A message that stands on their screen, though it may have been removed since. */
export const shownPost = (actor: Actor, ref: MessageRef): Doing<Post> =>
  Effect.suspend(() => {
    const removed = actor.world.removed.get(midOf(ref)!)
    return removed !== undefined && isIn(actor, removed.room) ? Effect.succeed(removed) : postOf(actor, ref)
  })

/** A comment that they see. */
export const remarkOf = (actor: Actor, ref: CommentRef): Doing<Remark> =>
  Effect.suspend((): Doing<Remark> => {
    const found = actor.world.remarks.get(midOf(ref)!)
    return found !== undefined && isIn(actor, found.post.room)
      ? Effect.succeed(found)
      : cannot(actor, `they see no comment ${midOf(ref)}`)
  })
