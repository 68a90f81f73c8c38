import { type Permission, permissions as rights } from "@colloquy/core/model/Member"
import * as Platform from "@colloquy/core/base/Platform"
import type { BotRole, ChatOptions, UserOptions } from "../../EmulatorOptions.ts"
import type { ChatState, PlatformState } from "./state.ts"

export const problemOfTitle = (title: string): string | undefined =>
  title !== "" && Platform.lengthOf(title) <= Platform.maxTitleLength
    ? undefined
    : `title: must be 1 to ${Platform.maxTitleLength} characters`

/** Returns why a user cannot be created, or `undefined`. */
export const problemOfUser = (
  { users }: PlatformState,
  { description, phone, user_id }: Pick<UserOptions, "description" | "phone" | "user_id">
): string | undefined => {
  if (user_id !== undefined && user_id <= 0) return "user_id: must be greater than 0"
  if (user_id !== undefined && users.has(user_id)) return `user_id: there is a user ${user_id} already`
  if (phone !== undefined && !/^\+?\d{3,15}$/.test(phone)) return "phone: must be 3 to 15 digits, with or without a +"
  return Platform.lengthOf(description ?? "") > Platform.maxDescriptionLength
    ? `description: must be at most ${Platform.maxDescriptionLength} characters`
    : undefined
}

/** Returns why an administrator cannot have these rights, or `undefined`. */
export const problemOfRights = (permissions: ReadonlyArray<Permission> = []): string | undefined => {
  const unknown = permissions.find((right) => !rights.some((known) => known === right))
  return unknown === undefined
    ? undefined
    : `permissions: there is no right "${unknown}"; there are ${rights.join(", ")}`
}

const problemOfRole = (bot: BotRole | undefined): string | undefined => {
  if (bot === undefined || bot === false) return undefined
  const { admin, permissions } = bot
  const hasNone = admin === false && permissions !== undefined
  const problem = hasNone ? "permissions: a plain member has none" : problemOfRights(permissions)
  return problem === undefined ? undefined : `bot.${problem}`
}

/** Returns why a chat cannot be created, or `undefined`. */
export const problemOfChat = (
  { chats }: PlatformState,
  options: Pick<ChatOptions, "bot" | "chat_id" | "title"> & { readonly type?: ChatState["type"] | undefined }
): string | undefined => {
  const { bot, chat_id, title, type = "chat" } = options
  if (chat_id !== undefined && chats.has(chat_id)) return `chat_id: there is a chat ${chat_id} already`
  if (type === "dialog" && chat_id !== undefined && chat_id <= 0) return "chat_id: must be greater than 0 for a dialog"
  if (type !== "dialog" && chat_id !== undefined && chat_id >= 0) return `chat_id: must be less than 0 for a ${type}`
  return (title === undefined ? undefined : problemOfTitle(title)) ?? problemOfRole(bot)
}

type Defined<O> = { readonly [K in keyof O]: Exclude<O[K], null | undefined> }

/** Removes the options that are `null` or `undefined`. */
export const defined = <O extends object>(options: O) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value != null)) as Defined<O>

/** Removes the options that are `undefined`. */
export const withoutUndefined = <O extends object>(options: O): O =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as O
