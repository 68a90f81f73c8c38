import type { Update } from "@colloquy/core/Update"
import type { Account, Bot, Delivery, Room } from "./model.ts"
import { idOf, type World } from "./world.ts"

/** @assumption A Events are kept for 24 hours. */
const retention = 24 * 60 * 60 * 1000

/** Puts an update where the bot's webhooks and its polls read it. */
export const deliver = (world: World, bot: Bot, update: Update): void => {
  forgetOld(world, bot)
  bot.updates.append({ at: world.now, update })
}

export const forgetOld = (world: World, bot: Bot): void => {
  const oldest = world.now - retention
  bot.updates.forgetWhile(({ at }: Delivery) => at <= oldest)
}

const botsIn = (world: World, room: Room): ReadonlyArray<Bot> =>
  [...world.bots.values()].filter(({ account }) => room.members.has(idOf(account)))

/** Tells the bots in a chat what happened there, except the one that did it. */
export const announce = (world: World, room: Room, update: Update, except?: Account): void => {
  room.lastEventAt = world.now
  for (const bot of botsIn(world, room)) if (bot.account !== except) deliver(world, bot, update)
}
