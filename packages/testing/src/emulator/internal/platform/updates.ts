import * as Platform from "@colloquy/core/base/Platform"
import type { Update } from "@colloquy/core/model/Update"
import * as Context from "effect/Context"
import * as Fiber from "effect/Fiber"
import type { PersonEvent } from "../../Person.ts"
import { emit, emitFault, inChat } from "./events.ts"
import { chatOf, deliveriesOf } from "./faults.ts"
import { type BotState, type ChatState, now, type PlatformState, type UserState } from "./state.ts"
import { idOf } from "./users.ts"

/** Returns the `update_type` of an update on the wire. */
export const typeOf = (update: Update): string => {
  if (update.update_type !== "unknown") return update.update_type
  const { raw } = update
  return typeof raw === "object" && raw !== null && "update_type" in raw ? String(raw.update_type) : "unknown"
}

export const forgetExpired = (state: PlatformState, bot: BotState): void => {
  const oldest = now(state) - Platform.updateRetention
  bot.updates.forgetWhile(({ at }) => at <= oldest)
}

/** Whether the actions of a fiber cause no updates. A reference, because other fibers act at the same time. */
export const IsSilent = Context.Reference("@colloquy/testing/IsSilent", { defaultValue: () => false })

/** Appends an update to the log that the polls and the webhooks of a bot read. */
export const deliverUpdate = (state: PlatformState, bot: BotState, update: Update): void => {
  if (Fiber.getCurrent()?.getRef(IsSilent) === true) return
  forgetExpired(state, bot)
  const update_type = typeOf(update)
  const chat_id = chatOf(update)
  const ids = { bot_id: idOf(bot.user), ...(chat_id === undefined ? {} : { chat_id }) }
  for (const each of deliveriesOf(state, update, (fault) => emitFault(state, fault, update_type, ids))) {
    const number = bot.updates.end
    bot.updates.append({ at: now(state), update: each })
    emit(state, { type: "update", ...ids, update_type, number, update: each })
  }
}

/** Delivers an update about a chat to one bot. */
export const notifyBot = (state: PlatformState, chat: ChatState, bot: BotState, update: Update): void => {
  chat.lastEventAt = now(state)
  deliverUpdate(state, bot, update)
}

/** Delivers an update about a chat to its bots, except the bot that caused the update. */
export const notifyBots = (state: PlatformState, chat: ChatState, update: Update, except?: UserState): void => {
  chat.lastEventAt = now(state)
  for (const bot of state.bots.values()) {
    if (bot.user !== except && chat.members.has(idOf(bot.user))) deliverUpdate(state, bot, update)
  }
}

/** Records an action of a bot for the current members of the chat; a notification is for one person. */
export const recordSeen = (state: PlatformState, chat: ChatState, event: PersonEvent): void => {
  const audience = event._tag === "Notification" ? new Set([event.user_id]) : chat.memberIds
  state.seen.append({ event, audience })
  if (event._tag === "Notice") emit(state, { type: "notice", ...inChat(chat), changed: event.changed })
}
