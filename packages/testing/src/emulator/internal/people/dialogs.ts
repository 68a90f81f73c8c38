import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import type { Person } from "../../Person.ts"
import { createDialog, findDialog } from "../platform/chats.ts"
import { byUser, emit, emitChat } from "../platform/events.ts"
import { recordActivity } from "../platform/members.ts"
import { type ChatState, now } from "../platform/state.ts"
import { notifyBot } from "../platform/updates.ts"
import { toChat } from "../platform/views.ts"
import { type Action, type Actor, cannot, localeOf } from "./access.ts"

const changes = {
  bot_stopped: "stopped",
  dialog_cleared: "cleared",
  dialog_removed: "deleted",
  dialog_muted: "muted",
  dialog_unmuted: "unmuted"
} as const

type DialogUpdate = keyof typeof changes

/** Opens the dialog, or restarts a stopped dialog. */
export const startDialog = (actor: Actor, payload?: string): ChatState => {
  const { bot, self, state } = actor
  const chat = findDialog(state, self, bot) ?? createDialog(state, self, bot)
  chat.isSuspended = false
  recordActivity(state, chat, self)
  const { chat_id } = chat
  const deepLink = payload === undefined ? {} : { payload }
  const started = { timestamp: now(state), chat_id, user: self.profile, ...deepLink, ...localeOf(actor) }
  emit(state, { type: "chat", change: "started", ...byUser(chat, self), ...deepLink })
  notifyBot(state, chat, bot, { update_type: "bot_started", ...started })
  return chat
}

const dialogOf = (actor: Actor): Action<ChatState> =>
  Effect.suspend((): Action<ChatState> => {
    const chat = findDialog(actor.state, actor.self, actor.bot)
    return chat === undefined ? cannot(actor, "they have no dialog with the bot: use start") : Effect.succeed(chat)
  })

const toDialog = (actor: Actor, update_type: DialogUpdate, change: (chat: ChatState) => object = () => ({})): Action =>
  Effect.map(dialogOf(actor), (chat) => {
    const { bot, self, state } = actor
    recordActivity(state, chat, self)
    emitChat(state, chat, changes[update_type], self)
    const update = { update_type, timestamp: now(state), chat_id: chat.chat_id, user: self.profile, ...localeOf(actor) }
    notifyBot(state, chat, bot, { ...update, ...change(chat) })
  })

const stop = (actor: Actor): Action =>
  toDialog(actor, "bot_stopped", (chat) => {
    chat.isSuspended = true
    return {}
  })

/**
 * Deletes the dialog, which also stops the bot.
 *
 * @assumption removedDialogs
 */
const remove = (actor: Actor): Action =>
  Effect.andThen(
    toDialog(actor, "dialog_removed"),
    Effect.flatMap(dialogOf(actor), ({ isSuspended }) => (isSuspended ? Effect.void : stop(actor)))
  )

export const dialogActions = (
  actor: Actor
): Pick<Person, "dialog" | "start" | "stop" | "clearDialog" | "removeDialog" | "muteDialog" | "unmuteDialog"> => ({
  dialog: Effect.map(dialogOf(actor), (chat) => toChat(actor.state, chat, actor.bot)),
  start: (payload) =>
    Effect.suspend(() =>
      payload !== undefined && payload.length > Platform.maxStartPayloadLength
        ? cannot(actor, `the payload of a deep link has at most ${Platform.maxStartPayloadLength} characters`)
        : Effect.sync(() => toChat(actor.state, startDialog(actor, payload), actor.bot))
    ),
  stop: stop(actor),
  clearDialog: toDialog(actor, "dialog_cleared"),
  removeDialog: remove(actor),
  muteDialog: (muted_until) => toDialog(actor, "dialog_muted", () => ({ muted_until })),
  unmuteDialog: toDialog(actor, "dialog_unmuted")
})
