import type { UserId, UserWithPhoto } from "@colloquy/core/model/User"
import { emit } from "./events.ts"
import { nextUserId } from "./ids.ts"
import { BotState, now, type PlatformState, type UserState } from "./state.ts"
import { withoutUndefined } from "./validation.ts"

export const idOf = ({ profile }: UserState): UserId => profile.user_id

const defaultPhone = (user_id: UserId): string => `+7900${String(user_id).slice(-7).padStart(7, "0")}`

/** @assumption userNames */
export const fullNameOf = ({ first_name, last_name }: Pick<UserWithPhoto, "first_name" | "last_name">): string =>
  last_name ? `${first_name} ${last_name}` : first_name

/** Creates a user. `last_activity_time: null` hides the time of the last activity. */
export const addUser = (
  state: PlatformState,
  profile: Partial<UserWithPhoto> & Pick<UserWithPhoto, "first_name">,
  options: { readonly [K in Exclude<keyof UserState, "profile">]?: UserState[K] | undefined } = {}
): UserState => {
  const { last_activity_time = now(state), user_id = nextUserId(state), ...rest } = profile
  const { isPrivate = false, locale, location = { latitude: 0, longitude: 0 }, phone = defaultPhone(user_id) } = options
  const user: UserState = {
    profile: {
      user_id,
      username: null,
      is_bot: false,
      name: fullNameOf(profile),
      ...(last_activity_time === null ? {} : { last_activity_time }),
      ...withoutUndefined(rest)
    },
    isPrivate,
    locale,
    phone,
    location
  }
  state.users.set(user_id, user)
  emit(state, { type: "user", user: user.profile })
  return user
}

export const addBot = (
  state: PlatformState,
  options: { readonly token: string; readonly name: string; readonly username: string }
): BotState => {
  const { token, name, username } = options
  const bot = new BotState(token, addUser(state, { first_name: name, username, is_bot: true }))
  state.bots.set(token, bot)
  return bot
}

export const botOf = (state: PlatformState, user_id: UserId): BotState | undefined => {
  for (const bot of state.bots.values()) if (idOf(bot.user) === user_id) return bot
  return undefined
}
