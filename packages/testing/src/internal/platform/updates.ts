import * as Platform from "@colloquy/core/Platform"
import type { Update } from "@colloquy/core/Update"
import { onDelivery } from "./faults.ts"
import type { UserState, BotState, StoredUpdate, ChatState } from "./model.ts"
import { idOf, type PlatformState } from "./state.ts"

/** The name of an update on the wire. */
export const typeOf = (update: Update): string => {
  if (update.update_type !== "unknown") return update.update_type
  const { raw } = update
  return typeof raw === "object" && raw !== null && "update_type" in raw ? String(raw.update_type) : "unknown"
}

/** Puts an update where the bot's webhooks and its polls read it. */
export const deliverUpdate = (state: PlatformState, bot: BotState, update: Update): void => {
  forgetOld(state, bot)
  const fate = onDelivery(state, update)
  if (fate === "drop") return
  const delivery = { at: state.now, update }
  bot.updates.append(delivery)
  if (fate === "duplicate") bot.updates.append(delivery)
}

export const forgetOld = (state: PlatformState, bot: BotState): void => {
  const oldest = state.now - Platform.updateRetention
  bot.updates.forgetWhile(({ at }: StoredUpdate) => at <= oldest)
}

const botsIn = (state: PlatformState, chat: ChatState): ReadonlyArray<BotState> =>
  [...state.bots.values()].filter(({ user }) => chat.members.has(idOf(user)))

/** Tells one bot what happened in a chat. */
export const notifyBot = (state: PlatformState, chat: ChatState, bot: BotState, update: Update): void => {
  chat.lastEventAt = state.now
  deliverUpdate(state, bot, update)
}

/** Tells the bots in a chat what happened there, except the one that did it. */
export const notifyBots = (state: PlatformState, chat: ChatState, update: Update, except?: UserState): void => {
  chat.lastEventAt = state.now
  for (const bot of botsIn(state, chat)) if (bot.user !== except) deliverUpdate(state, bot, update)
}
