import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as ChatStore from "../../ChatStore.ts"
import { orderPrefix, prefix as statePrefix, userOfScope } from "../../../inbox/internal/store/stateRows.ts"
import * as Inbox from "../../../inbox/Inbox.ts"
import { hooks } from "../../../inbox/internal/hooks.ts"
import { userIdOf } from "../../../model/Update.ts"
import type { UserId } from "../../../model/User.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import { incidentPrefix } from "../../../inbox/internal/log/incident.ts"
import { prefix as timerPrefix, userScope } from "../../../inbox/internal/timers/change.ts"

const forgetDeadLetters = (user_id: UserId) =>
  Inbox.deadLetters.pipe(
    Stream.filter(({ update: { decoded } }) => Result.isSuccess(decoded) && userIdOf(decoded.success) === user_id),
    Stream.filterEffect(({ id }) => Inbox.drop(id)),
    Stream.runCount
  )

const forgetChats = Effect.fnUntraced(function* (user_id: UserId) {
  const store = yield* Effect.serviceOption(ChatStore.ChatStore)
  if (Option.isNone(store)) return 0
  return yield* ChatStore.stream().pipe(
    Stream.filter(({ user }) => user?.user_id === user_id),
    Stream.filterEffect(({ chat_id }) => ChatStore.remove(chat_id)),
    Stream.runCount,
    Effect.provideService(ChatStore.ChatStore, store.value)
  )
})

/** Deletes the stored data of a person. */
export const forget = Effect.fnUntraced(function* (user_id: UserId) {
  const { store, [hooks]: inboxHooks } = yield* Inbox.Inbox
  const user = userScope(user_id)
  const current = (yield* CurrentUpdate)?.changes
  const changes = current?.store === store ? current : undefined
  const values = yield* store.forget({ user, prefix: statePrefix })
  yield* store.forget({ user, prefix: orderPrefix })
  changes?.states?.forget((key) => userOfScope(key.scope) === user)
  const timers = yield* store.forget({ user, prefix: timerPrefix })
  changes?.forgetTimers(user)
  inboxHooks.onTimers()
  const deadLetters = yield* forgetDeadLetters(user_id)
  // The log of handled updates, and what dead letters have seen.
  yield* store.forget({ user, prefix: incidentPrefix })
  yield* inboxHooks.log.forget(user_id)
  return { values, timers, deadLetters, chats: yield* forgetChats(user_id) }
})
