import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as ChatStore from "../../ChatStore.ts"
import { orderPrefix, prefix as statePrefix, userOfScope } from "../../../inbox/internal/store/stateRows.ts"
import * as Inbox from "../../../inbox/Inbox.ts"
import { hooks } from "../../../inbox/internal/hooks.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { userIdOf } from "../../../model/Update.ts"
import type { UserId } from "../../../model/User.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import { incidentPrefix } from "../../../inbox/internal/log/incident.ts"
import { prefix as timerPrefix, userScope } from "../../../inbox/internal/timers/change.ts"

const forgetValues = (user_id: UserId) =>
  Effect.gen(function* () {
    const { store } = yield* Inbox.Inbox
    const scope = userScope(user_id)
    const count = yield* store.forget({ user: scope, prefix: statePrefix })
    yield* store.forget({ user: scope, prefix: orderPrefix })
    const changes = (yield* CurrentUpdate)?.changes
    if (changes?.store === store) changes.states?.forget((key) => userOfScope(key.scope) === scope)
    return count
  })

const forgetTimers = (user_id: UserId) =>
  Effect.gen(function* () {
    const { store, [hooks]: inboxHooks } = yield* Inbox.Inbox
    const user = userScope(user_id)
    const count = yield* store.forget({ user, prefix: timerPrefix })
    const changes = (yield* CurrentUpdate)?.changes
    if (changes?.store === store) changes.forgetTimers(user)
    inboxHooks.onTimers()
    return count
  })

const forgetDeadLetters = (user_id: UserId) =>
  Inbox.deadLetters.pipe(
    Stream.filter(({ update: { decoded } }) => Result.isSuccess(decoded) && userIdOf(decoded.success) === user_id),
    Stream.filterEffect(({ id }) => Inbox.drop(id)),
    Stream.runCount
  )

/** The log of handled updates, and what dead letters have seen. */
const forgetLog = (user_id: UserId) =>
  Effect.gen(function* () {
    const { store, [hooks]: inboxHooks } = yield* Inbox.Inbox
    yield* store.forget({ user: userScope(user_id), prefix: incidentPrefix })
    yield* inboxHooks.log.forget(user_id)
  })

const forgetChats = (user_id: UserId) =>
  Effect.contextWith((context: Context.Context<never>) => {
    const store = Context.getOption(context, ChatStore.ChatStore)
    if (Option.isNone(store)) return Effect.succeed(0)
    return ChatStore.stream().pipe(
      Stream.filter(({ user }) => user?.user_id === user_id),
      Stream.filterEffect(({ chat_id }) => ChatStore.remove(chat_id)),
      Stream.runCount,
      Effect.provideService(ChatStore.ChatStore, store.value)
    )
  })

/** Deletes the stored data of a person. */
export const forget = (
  user_id: UserId
): Effect.Effect<
  { readonly values: number; readonly timers: number; readonly chats: number; readonly deadLetters: number },
  StoreError,
  Inbox.Inbox
> =>
  Effect.all({
    values: forgetValues(user_id),
    timers: forgetTimers(user_id),
    deadLetters: Effect.tap(forgetDeadLetters(user_id), () => forgetLog(user_id)),
    chats: forgetChats(user_id)
  })
