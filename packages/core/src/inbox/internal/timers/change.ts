import type { Due, RowWrite } from "../../InboxStore.ts"
import type { ChatId } from "../../../model/Recipient.ts"
import { encode, type TimerUpdate } from "../../../model/Update.ts"
import type { UserId } from "../../../model/User.ts"
import { stringify } from "../../../base/internal/json.ts"
import { segment } from "../store/keys.ts"

/** The scope of the values and the timers of a user. */
export const userScope = (user_id: UserId): string => `user:${user_id}`

/** The chat and the user that a timer belongs to. At least one id is defined. */
export interface Target {
  readonly chat_id?: ChatId | undefined
  readonly user_id?: UserId | undefined
}

/** Returns the fields of a target that are defined. */
export const toTarget = ({ chat_id, user_id }: Target): { readonly chat_id?: ChatId; readonly user_id?: UserId } => ({
  ...(chat_id === undefined ? {} : { chat_id }),
  ...(user_id === undefined ? {} : { user_id })
})

/**
 * Returns the key that distinguishes a timer from timers with the same name: the target, and the key that the bot gave
 * to the timer.
 */
export const toKey = ({ chat_id, user_id }: Target, key: string | undefined): string => {
  const target = chat_id === undefined ? `user:${user_id}` : `chat:${chat_id}`
  return key === undefined ? target : `${target}/${key}`
}

/** Returns the key that the bot gave to a timer, if any. */
export const fromKey = (target: Target, key: string): string | undefined => {
  const prefix = `${toKey(target, undefined)}/`
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined
}

/** Returns the user to whom a timer belongs: the user of its update. */
const userOf = ({ user_id }: Target): string | undefined => (user_id === undefined ? undefined : userScope(user_id))

/** The beginning of the keys of the rows of all timers. */
export const prefix = "timer/"

/** Returns the key of the row of a timer. */
export const rowKey = ({ key, name }: Pick<TimerUpdate, "key" | "name">): string => `${prefix}${segment(name)}/${key}`

/** Returns the row that sets a timer. */
export const setTimer = (update: TimerUpdate, due: Due, revision: string): RowWrite => ({
  key: rowKey(update),
  row: { text: stringify(encode(update)), user: userOf(update), due },
  revision
})
