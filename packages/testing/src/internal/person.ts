import type { Attachment } from "@colloquy/core/Attachment"
import type { Permission } from "@colloquy/core/Member"
import type { Message } from "@colloquy/core/Message"
import { maxLength } from "@colloquy/core/Text"
import type { Update } from "@colloquy/core/Update"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import {
  CannotDo,
  type ChatRef,
  type CommentRef,
  type Heard,
  type MessageRef,
  type Person,
  type SayOptions
} from "../Person.ts"
import { problemOfTitle } from "./checks.ts"
import { type Content, isEmpty, maxAttachments, nothing } from "./content.ts"
import { report } from "./deliveries.ts"
import type { Account, Bot, Hearing, Post, Remark, Room } from "./model.ts"
import { contentOf, linkTo, publish, rewrite, withdraw } from "./posts.ts"
import { pressing } from "./presses.ts"
import { remark, rewriteRemark, withdrawRemark } from "./remarks.ts"
import { admit, appoint, dismiss, findDialog, hasRight, isAdmin, markActive, openDialog, rename } from "./rooms.ts"
import { present, toChat } from "./views.ts"
import { idOf, type World } from "./world.ts"

type DialogUpdate = Extract<
  Update["update_type"],
  "bot_stopped" | "dialog_cleared" | "dialog_removed" | "dialog_muted" | "dialog_unmuted"
>

/** @assumption B The payload of a deep link has at most 128 characters. */
const maxPayload = 128

const chatIdOf = (ref: ChatRef) => (typeof ref === "number" ? ref : ref.chat_id)

const midOf = (ref: MessageRef | CommentRef) => (typeof ref === "string" ? ref : ref.body?.mid)

/** A person, who acts on the world and writes to `bot` in their dialog. */
export const makePerson = (world: World, bot: Bot, self: Account): Person => {
  const cannot = (problem: string) => Effect.fail(new CannotDo({ who: self.user.first_name, problem }))

  const doing = <A, E>(body: () => Effect.Effect<A, E>) => Effect.suspend(body)

  const roomOf = (ref: ChatRef): Effect.Effect<Room, CannotDo> =>
    doing(() => {
      const room = world.rooms.get(chatIdOf(ref))
      return room === undefined ? cannot(`there is no chat ${chatIdOf(ref)}`) : Effect.succeed(room)
    })

  const ownRoom = (ref: ChatRef): Effect.Effect<Room, CannotDo> =>
    Effect.tap(roomOf(ref), (room) =>
      room.members.has(idOf(self)) ? Effect.void : cannot(`they are not in chat ${room.chat_id}`)
    )

  const roomWithRight = (ref: ChatRef, right: Permission): Effect.Effect<Room, CannotDo> =>
    Effect.tap(ownRoom(ref), (room) =>
      room.type === "chat" || (room.type === "dialog" && right === "write") || hasRight(room, self, right)
        ? Effect.void
        : cannot(`they lack the right ${right}`)
    )

  const postOf = (ref: MessageRef): Effect.Effect<Post, CannotDo> =>
    doing(() => {
      const mid = midOf(ref)
      const post = mid === undefined ? undefined : world.posts.get(mid)
      return post?.room.members.has(idOf(self)) === true
        ? Effect.succeed(post)
        : cannot(`they see no message ${mid ?? "without an id"}`)
    })

  /** What the platform lets nobody say. */
  const speakable = (text: string, attachments: ReadonlyArray<Attachment> = []): Effect.Effect<void, CannotDo> => {
    if (text.length > maxLength) return cannot(`a text has at most ${maxLength} characters`)
    return attachments.length > maxAttachments
      ? cannot(`a message has at most ${maxAttachments} attachments`)
      : Effect.void
  }

  const speakableComment = (text: string) => (text === "" ? cannot("a comment has a text") : speakable(text))

  const openRoom = (ref: ChatRef, right: Permission): Effect.Effect<Room, CannotDo> =>
    Effect.tap(roomWithRight(ref, right), ({ isClosed }) => (isClosed ? cannot("the chat is closed") : Effect.void))

  /** A message that stands on their screen, though it may have been removed since. */
  const shownPost = (ref: MessageRef): Effect.Effect<Post, CannotDo> =>
    doing(() => {
      const removed = world.removed.get(midOf(ref)!)
      return removed?.room.members.has(idOf(self)) === true ? Effect.succeed(removed) : postOf(ref)
    })

  const remarkOf = (ref: CommentRef): Effect.Effect<Remark, CannotDo> =>
    doing(() => {
      const found = world.remarks.get(midOf(ref)!)
      return found === undefined ? cannot(`there is no comment ${midOf(ref)}`) : Effect.succeed(found)
    })

  const ownRemark = (ref: CommentRef) =>
    Effect.tap(remarkOf(ref), ({ author }) => (author === self ? Effect.void : cannot("the comment is not theirs")))

  const locale = self.locale === undefined ? {} : { user_locale: self.locale }

  const start = (payload?: string): Room => {
    const known = findDialog(world, self, bot)
    const room = known ?? openDialog(world, self, bot)
    room.isSuspended = false
    markActive(world, room, self)
    const { chat_id } = room
    const deepLink = payload === undefined ? {} : { payload }
    const { now: timestamp } = world
    const started = { timestamp, chat_id, user: self.user, ...deepLink, ...locale }
    report(world, room, bot, { update_type: "bot_started", ...started })
    return room
  }

  const dialog: Effect.Effect<Room, CannotDo> = doing(() => {
    const room = findDialog(world, self, bot)
    return room === undefined ? cannot("they have no dialog with the bot: use start") : Effect.succeed(room)
  })

  const toDialog = (update_type: DialogUpdate, change: (room: Room) => object = () => ({})) =>
    Effect.map(dialog, (room) => {
      markActive(world, room, self)
      const update = { update_type, timestamp: world.now, chat_id: room.chat_id, user: self.user, ...locale }
      report(world, room, bot, { ...update, ...change(room) })
    })

  const readContent = (room: Room | undefined, text: string, options: SayOptions = {}) =>
    Effect.gen(function* () {
      const { attachments = [], link } = options
      yield* speakable(text, attachments)
      const linked = link === undefined ? undefined : yield* postOf(link.mid)
      if (linked !== undefined && link?.type === "reply" && linked.room !== room) {
        return yield* cannot("a reply is to a message of the same chat")
      }
      const to = linked === undefined ? undefined : linkTo(link!.type, linked)
      const content: Content = { ...nothing, text: text === "" ? null : text, attachments, link: to }
      return isEmpty(content) ? yield* cannot("a message has a text, attachments or a link") : content
    })

  const sayIn = (room: Room, text: string, options?: SayOptions) =>
    Effect.map(readContent(room, text, options), (content): Message =>
      present(world, publish(world, room, self, content))
    )

  const say = ((...args: Parameters<Person["say"]> | [string, SayOptions?]) =>
    doing(() => {
      const [first, second, third] = args
      if (typeof first !== "string") {
        return Effect.flatMap(openRoom(first, "write"), (room) => sayIn(room, second as string, third))
      }
      const known = findDialog(world, self, bot)
      return Effect.map(readContent(known, first, second as SayOptions), (content) =>
        present(world, publish(world, known === undefined || known.isSuspended ? start() : known, self, content))
      )
    })) as Person["say"]

  const cursors = { reply: world.heard.end, notification: world.heard.end }

  const isNear = ({ audience }: Hearing): boolean => audience.has(idOf(self))

  const nextHeard = <A>(cursor: keyof typeof cursors, pick: (heard: Heard) => A | undefined): Effect.Effect<A> =>
    doing(() => {
      for (const hearing of world.heard.from(cursors[cursor])) {
        cursors[cursor]++
        const picked = isNear(hearing) ? pick(hearing.heard) : undefined
        if (picked !== undefined) return Effect.succeed(picked)
      }
      return Effect.andThen(world.heard.arrival, nextHeard(cursor, pick))
    })

  return {
    user: self.user,
    user_id: idOf(self),
    dialog: Effect.map(dialog, (room) => toChat(world, room, bot)),
    start: (payload) =>
      doing(() =>
        payload !== undefined && payload.length > maxPayload
          ? cannot(`the payload of a deep link has at most ${maxPayload} characters`)
          : Effect.sync(() => toChat(world, start(payload), bot))
      ),
    stop: toDialog("bot_stopped", (room) => {
      room.isSuspended = true
      return {}
    }),
    say,
    edit: (ref, text) =>
      Effect.gen(function* () {
        const post = yield* postOf(ref)
        if (post.author !== self) return yield* cannot("the message is not theirs")
        yield* speakable(text)
        const content: Content = { ...contentOf(post), text: text === "" ? null : text, markup: [] }
        if (isEmpty(content)) return yield* cannot("a message has a text, attachments or a link")
        rewrite(world, post, content, self)
        return present(world, post)
      }),
    remove: (ref) =>
      Effect.gen(function* () {
        const post = yield* postOf(ref)
        const mayRemove = post.author === self || isAdmin(post.room, self)
        return mayRemove ? withdraw(world, post, self) : yield* cannot("the message is not theirs")
      }),
    press: (ref, button) => Effect.flatMap(shownPost(ref), pressing({ world, self, cannot, sayIn }, button)),
    join: (ref) =>
      Effect.gen(function* () {
        const room = yield* roomOf(ref)
        if (room.type === "dialog") return yield* cannot("a dialog cannot be joined")
        if (room.blocked.has(idOf(self))) return yield* cannot("they are blocked there")
        if (room.isClosed) return yield* cannot("the chat is closed")
        if (!room.members.has(idOf(self))) admit(world, room, self)
      }),
    leave: (ref) =>
      Effect.gen(function* () {
        const room = yield* ownRoom(ref)
        return room.type === "dialog" ? yield* cannot("a dialog cannot be left") : dismiss(world, room, self)
      }),
    addBot: (ref) =>
      Effect.map(openRoom(ref, "add_remove_members"), (room) => {
        if (!room.members.has(idOf(bot.account))) admit(world, room, bot.account, self)
      }),
    removeBot: (ref) =>
      Effect.gen(function* () {
        const room = yield* roomWithRight(ref, "add_remove_members")
        if (!room.members.has(idOf(bot.account))) return yield* cannot("the bot is not there")
        dismiss(world, room, bot.account, self)
      }),
    appointBot: (ref, permissions) =>
      Effect.gen(function* () {
        const room = yield* ownRoom(ref)
        const member = room.members.get(idOf(bot.account))
        if (member === undefined || room.type === "dialog") return yield* cannot("the bot is no member there")
        appoint(world, room, member, permissions, self)
      }),
    rename: (ref, title) =>
      Effect.gen(function* () {
        const room = yield* openRoom(ref, "change_chat_info")
        const problem = problemOfTitle(title)
        return problem === undefined ? rename(world, room, title, self) : yield* cannot(problem)
      }),
    comment: (ref, text, { onBehalf = false, replyTo } = {}) =>
      Effect.gen(function* () {
        const post = yield* postOf(ref)
        const { hasComments, isClosed, type } = post.room
        if (type !== "channel") return yield* cannot("comments are for the posts of channels")
        if (!hasComments || isClosed) return yield* cannot("comments are disabled there")
        yield* speakableComment(text)
        if (onBehalf && !isAdmin(post.room, self)) return yield* cannot("they do not speak for the channel")
        const to = replyTo === undefined ? undefined : yield* remarkOf(replyTo)
        return remark(world, post, self, { text, markup: [], replyTo: to }, onBehalf).comment
      }),
    editComment: (ref, text) =>
      Effect.gen(function* () {
        const found = yield* ownRemark(ref)
        yield* speakableComment(text)
        rewriteRemark(world, found, { text, markup: [], replyTo: undefined }, self)
        return found.comment
      }),
    removeComment: (ref) => Effect.map(ownRemark(ref), (found) => withdrawRemark(world, found, self)),
    view: (ref) =>
      Effect.map(postOf(ref), ({ room, viewers }) => {
        viewers?.add(idOf(self))
        markActive(world, room, self)
      }),
    clearDialog: toDialog("dialog_cleared"),
    removeDialog: toDialog("dialog_removed"),
    muteDialog: (muted_until) => toDialog("dialog_muted", () => ({ muted_until })),
    unmuteDialog: toDialog("dialog_unmuted"),
    reply: nextHeard("reply", (heard) => (heard._tag === "Message" ? heard.message : undefined)),
    notification: nextHeard("notification", (heard) => (heard._tag === "Notification" ? heard.text : undefined)),
    hears: world.heard.stream(cursors.reply).pipe(
      Stream.filter(isNear),
      Stream.map(({ heard }) => heard)
    )
  }
}
