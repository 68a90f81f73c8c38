import type { Message } from "@colloquy/core/Message"
import { maxLength } from "@colloquy/core/Text"
import * as Effect from "effect/Effect"
import type { ChatRef, Person, SayOptions } from "../../Person.ts"
import { type Content, isEmpty, maxAttachments, nothing } from "../platform/content.ts"
import type { Room } from "../platform/model.ts"
import { contentOf, linkTo, publish, rewrite, withdraw } from "../platform/posts.ts"
import { counterpart, findDialog, hasRight, markActive } from "../platform/rooms.ts"
import { present } from "../platform/views.ts"
import { idOf } from "../platform/world.ts"
import { openRoom, postOf } from "./access.ts"
import { type Actor, cannot, type Doing } from "./actor.ts"
import { attach } from "./attaching.ts"
import { begin } from "./dialogs.ts"

/** What the platform lets nobody say. */
export const speakable = (actor: Actor, text: string): Doing =>
  text.length > maxLength ? cannot(actor, `a text has at most ${maxLength} characters`) : Effect.void

const unlessEmpty = (actor: Actor, content: Content): Doing<Content> =>
  isEmpty(content) ? cannot(actor, "a message has a text, attachments or a link") : Effect.succeed(content)

const readContent = Effect.fnUntraced(function* (
  actor: Actor,
  room: Room | undefined,
  text: string,
  { attachments = [], link }: SayOptions = {}
) {
  yield* speakable(actor, text)
  if (attachments.length > maxAttachments) {
    return yield* cannot(actor, `a message has at most ${maxAttachments} attachments`)
  }
  const linked = link === undefined ? undefined : yield* postOf(actor, link.mid)
  if (linked !== undefined && link?.type === "reply" && linked.room !== room) {
    return yield* cannot(actor, "a reply is to a message of the same chat")
  }
  return yield* unlessEmpty(actor, {
    ...nothing,
    text: text === "" ? null : text,
    attachments: yield* Effect.forEach(attachments, (said) => attach(actor, said)),
    link: linked === undefined ? undefined : linkTo(link!.type, linked)
  })
})

const sayInDialog = (actor: Actor, text: string, options?: SayOptions): Doing<Message> =>
  Effect.suspend(() => {
    const { bot, self, world } = actor
    const known = findDialog(world, self, bot)
    return Effect.map(readContent(actor, known, text, options), (content) =>
      present(world, publish(world, known === undefined || known.isSuspended ? begin(actor) : known, self, content))
    )
  })

/** They, facing the bot that a dialog is with. */
const facing = (actor: Actor, dialog: Room): Actor => {
  const other = counterpart(dialog, actor.self)
  const bot = other === undefined ? undefined : actor.world.botOf(idOf(other))
  return bot === undefined ? actor : { ...actor, bot }
}

export const sayIn = (actor: Actor, ref: ChatRef, text: string, options?: SayOptions): Doing<Message> =>
  Effect.flatMap(openRoom(actor, ref, "write"), (room) =>
    room.type === "dialog"
      ? sayInDialog(facing(actor, room), text, options)
      : Effect.map(readContent(actor, room, text, options), (content) =>
          present(actor.world, publish(actor.world, room, actor.self, content))
        )
  )

/** What a person does with messages. */
export const sayings = (actor: Actor): Pick<Person, "say" | "edit" | "remove" | "view"> => ({
  say: ((...args: [string, SayOptions?] | Parameters<Person["say"]>) => {
    const [first, second, third] = args
    return typeof first === "string"
      ? sayInDialog(actor, first, second as SayOptions)
      : sayIn(actor, first, second as string, third)
  }) as Person["say"],
  edit: Effect.fnUntraced(function* (ref, text) {
    const post = yield* postOf(actor, ref)
    if (post.author !== actor.self) return yield* cannot(actor, "the message is not theirs")
    yield* speakable(actor, text)
    const said: Content = { ...contentOf(post), text: text === "" ? null : text, markup: [] }
    rewrite(actor.world, post, yield* unlessEmpty(actor, said), actor.self)
    return present(actor.world, post)
  }),
  remove: Effect.fnUntraced(function* (ref) {
    const post = yield* postOf(actor, ref)
    if (post.author !== actor.self && !hasRight(post.room, actor.self, "delete")) {
      return yield* cannot(actor, "the message is not theirs")
    }
    withdraw(actor.world, post, actor.self)
  }),
  view: (ref) =>
    Effect.map(postOf(actor, ref), ({ room, viewers }) => {
      viewers?.add(idOf(actor.self))
      markActive(actor.world, room, actor.self)
    })
})
