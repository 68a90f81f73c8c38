import type { Update } from "@colloquy/core/Update"
import * as Effect from "effect/Effect"
import type { Person } from "../../Person.ts"
import { report } from "../platform/deliveries.ts"
import type { Room } from "../platform/model.ts"
import { findDialog, markActive, openDialog } from "../platform/rooms.ts"
import { toChat } from "../platform/views.ts"
import { type Actor, cannot, type Doing, localeOf } from "./actor.ts"

type DialogUpdate = Extract<
  Update["update_type"],
  "bot_stopped" | "dialog_cleared" | "dialog_removed" | "dialog_muted" | "dialog_unmuted"
>

/** @assumption B The payload of a deep link has at most 128 characters. */
const maxPayload = 128

/** Opens the dialog, or starts it again. */
export const begin = (actor: Actor, payload?: string): Room => {
  const { bot, self, world } = actor
  const room = findDialog(world, self, bot) ?? openDialog(world, self, bot)
  room.isSuspended = false
  markActive(world, room, self)
  const { chat_id } = room
  const deepLink = payload === undefined ? {} : { payload }
  const started = { timestamp: world.now, chat_id, user: self.user, ...deepLink, ...localeOf(actor) }
  report(world, room, bot, { update_type: "bot_started", ...started })
  return room
}

const dialogOf = (actor: Actor): Doing<Room> =>
  Effect.suspend((): Doing<Room> => {
    const room = findDialog(actor.world, actor.self, actor.bot)
    return room === undefined ? cannot(actor, "they have no dialog with the bot: use start") : Effect.succeed(room)
  })

const toDialog = (actor: Actor, update_type: DialogUpdate, change: (room: Room) => object = () => ({})): Doing =>
  Effect.map(dialogOf(actor), (room) => {
    const { bot, self, world } = actor
    markActive(world, room, self)
    const update = { update_type, timestamp: world.now, chat_id: room.chat_id, user: self.user, ...localeOf(actor) }
    report(world, room, bot, { ...update, ...change(room) })
  })

/** What a person does with the dialog itself. */
export const dialogs = (
  actor: Actor
): Pick<Person, "dialog" | "start" | "stop" | "clearDialog" | "removeDialog" | "muteDialog" | "unmuteDialog"> => ({
  dialog: Effect.map(dialogOf(actor), (room) => toChat(actor.world, room, actor.bot)),
  start: (payload) =>
    Effect.suspend(() =>
      payload !== undefined && payload.length > maxPayload
        ? cannot(actor, `the payload of a deep link has at most ${maxPayload} characters`)
        : Effect.sync(() => toChat(actor.world, begin(actor, payload), actor.bot))
    ),
  stop: toDialog(actor, "bot_stopped", (room) => {
    room.isSuspended = true
    return {}
  }),
  clearDialog: toDialog(actor, "dialog_cleared"),
  removeDialog: toDialog(actor, "dialog_removed"),
  muteDialog: (muted_until) => toDialog(actor, "dialog_muted", () => ({ muted_until })),
  unmuteDialog: toDialog(actor, "dialog_unmuted")
})
