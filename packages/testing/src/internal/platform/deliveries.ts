import type { Update } from "@colloquy/core/Update"
import { onDelivery } from "./faults.ts"
import type { Account, Bot, KeptUpdate, Room } from "./model.ts"
import { idOf, type World } from "./world.ts"

/** @assumption A Events are kept for 24 hours. */
const retention = 24 * 60 * 60 * 1000

/** The name of an update on the wire. */
export const typeOf = (update: Update): string => {
  if (update.update_type !== "unknown") return update.update_type
  const { raw } = update
  return typeof raw === "object" && raw !== null && "update_type" in raw ? String(raw.update_type) : "unknown"
}

/** Puts an update where the bot's webhooks and its polls read it. */
export const deliver = (world: World, bot: Bot, update: Update): void => {
  forgetOld(world, bot)
  const fate = onDelivery(world, update)
  if (fate === "drop") return
  const delivery = { at: world.now, update }
  bot.updates.append(delivery)
  if (fate === "duplicate") bot.updates.append(delivery)
}

export const forgetOld = (world: World, bot: Bot): void => {
  const oldest = world.now - retention
  bot.updates.forgetWhile(({ at }: KeptUpdate) => at <= oldest)
}

const botsIn = (world: World, room: Room): ReadonlyArray<Bot> =>
  [...world.bots.values()].filter(({ account }) => room.members.has(idOf(account)))

/** Tells one bot what happened in a chat. */
export const report = (world: World, room: Room, bot: Bot, update: Update): void => {
  room.lastEventAt = world.now
  deliver(world, bot, update)
}

/** Tells the bots in a chat what happened there, except the one that did it. */
export const announce = (world: World, room: Room, update: Update, except?: Account): void => {
  room.lastEventAt = world.now
  for (const bot of botsIn(world, room)) if (bot.account !== except) deliver(world, bot, update)
}
