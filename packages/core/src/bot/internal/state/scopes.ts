import * as Schema from "effect/Schema"
import { ChatId } from "../../../model/Recipient.ts"
import type { Key, Of } from "../../State.ts"
import { chatOf, type Update, userIdOf } from "../../../model/Update.ts"
import { UserId } from "../../../model/User.ts"
import { userScope } from "../../../inbox/internal/timers/change.ts"

type Ids = { readonly chat_id?: ChatId | undefined; readonly user_id?: UserId | undefined }

const needed: { readonly [O in Of]: ReadonlyArray<keyof Ids> } = {
  chat: ["chat_id"],
  user: ["user_id"],
  userInChat: ["chat_id", "user_id"],
  bot: []
}

export const isOf = (of: string): of is Of => Object.hasOwn(needed, of)

/** Returns the ids that a state needs and that are absent. */
export const missingIds = (of: Of, ids: Ids): ReadonlyArray<keyof Ids> =>
  needed[of].filter((id) => ids[id] === undefined)

/** Whether ids are exactly the ids that a state needs. */
export const areOf = (of: Of, ids: Ids): boolean =>
  missingIds(of, ids).length === 0 && Object.values(ids).filter((id) => id !== undefined).length === needed[of].length

export const idsOf = (update: Update): Ids => ({ chat_id: chatOf(update), user_id: userIdOf(update) })

/** Returns the scope of a value in the store. */
export const toScope = (of: Of, { chat_id, user_id }: Ids): string => {
  switch (of) {
    case "chat":
      return `chat:${chat_id}`
    case "user":
      return userScope(user_id!)
    case "userInChat":
      return `chat:${chat_id}/${userScope(user_id!)}`
    case "bot":
      return "bot"
  }
}

const isChatId = Schema.is(ChatId)
const isUserId = Schema.is(UserId)

/** Returns the key of a scope, or `undefined` if a state of this kind does not have this scope. */
export const fromScope = <O extends Of>(of: O, scope: string): Key<O> | undefined => {
  const [, chat, user] = /^(?:chat:(-?\d+))?\/?(?:user:(-?\d+))?$/.exec(scope) ?? []
  const ids: Ids = {
    ...(chat === undefined ? {} : { chat_id: Number(chat) as ChatId }),
    ...(user === undefined ? {} : { user_id: Number(user) as UserId })
  }
  if (ids.chat_id !== undefined && !isChatId(ids.chat_id)) return undefined
  if (ids.user_id !== undefined && !isUserId(ids.user_id)) return undefined
  return missingIds(of, ids).length === 0 && toScope(of, ids) === scope ? (ids as Key<O>) : undefined
}
