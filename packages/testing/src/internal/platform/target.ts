import type { ChatId } from "@colloquy/core/Chat"
import type { MessageId } from "@colloquy/core/Message"
import type { UserId } from "@colloquy/core/User"
import type { Bot, Room } from "./model.ts"
import { findDialog } from "./rooms.ts"
import type { World } from "./world.ts"

/** The chat that a request is about, as its path and its query tell before its body is read. */
export const targetOf = (
  world: World,
  bot: Bot | undefined,
  params: Readonly<Record<string, string>>,
  query: string
): Room | undefined => {
  const search = new URLSearchParams(query)
  const given = (key: string): string | undefined => params[key] ?? search.get(key) ?? undefined

  const chat_id = given("chat_id")
  if (chat_id !== undefined) return world.rooms.get(Number(chat_id) as ChatId)
  const message_id = given("message_id")
  if (message_id !== undefined) return world.posts.get(message_id as MessageId)?.room
  if (bot === undefined) return undefined
  const callback_id = given("callback_id")
  if (callback_id !== undefined) return bot.presses.get(callback_id)?.post.room
  const user_id = given("user_id")
  const person = user_id === undefined ? undefined : world.accounts.get(Number(user_id) as UserId)
  return person === undefined ? undefined : findDialog(world, person, bot)
}

/** All chats that a request is about: a list of messages may be of several. */
export const targetsOf = (...request: Parameters<typeof targetOf>): ReadonlyArray<Room> => {
  const [world, , , query] = request
  const mids = new URLSearchParams(query).get("message_ids")?.split(",") ?? []
  const rooms = mids.map((mid) => world.posts.get(mid as MessageId)?.room)
  return [targetOf(...request), ...rooms].filter((room) => room !== undefined)
}
