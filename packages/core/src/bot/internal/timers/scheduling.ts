import * as Effect from "effect/Effect"
import type { RowWrite } from "../../../inbox/InboxStore.ts"
import { Inbox } from "../../../inbox/Inbox.ts"
import { hooks } from "../../../inbox/internal/hooks.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { chatOf, chatTypeOf, type TimerUpdate, userIdOf } from "../../../model/Update.ts"
import type { Changes } from "../../../inbox/internal/consumer/changes.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import { requireTimer } from "../../../inbox/internal/handlers/current.ts"
import { rowKey, type Target, toTarget } from "../../../inbox/internal/timers/change.ts"
import { rejectedKey } from "../../../inbox/internal/timers/recurrence.ts"

const inStore = (inbox: Inbox["Service"], row: RowWrite): Effect.Effect<void, StoreError> =>
  Effect.map(inbox.store.write([{ rows: [row] }]), inbox[hooks].onTimers)

/**
 * Whether the timer whose update is being handled was cancelled or set again after its due time. The replay of a dead
 * letter handles the update nevertheless.
 */
export const isCancelled = (update: TimerUpdate): Effect.Effect<boolean> =>
  Effect.withFiber((fiber) => {
    const changes = fiber.getRef(CurrentUpdate)?.changes
    if (changes === undefined) return Effect.succeed(false)
    const { fingerprint } = changes.entry.update
    return Effect.orDie(
      Effect.map(
        changes.store.read([rowKey(update), rejectedKey(fingerprint)]),
        ([timer, rejected]) => timer?.revision !== fingerprint && rejected === undefined
      )
    )
  })

/** The timers of the chat of the update that is being handled. The timers change when the update is acknowledged. */
export const ofUpdate: Effect.Effect<Schedule, { readonly update_type?: string }> = Effect.withFiber((fiber) => {
  const changes = fiber.getRef(CurrentUpdate)?.changes
  if (changes === undefined) return Effect.fail({})
  const { update } = changes
  const chat_id = chatOf(update)
  const user_id = userIdOf(update)
  if (chat_id === undefined && user_id === undefined) return Effect.fail({ update_type: update.update_type })
  return Effect.succeed(within(changes, { chat_id, user_id }))
})

/** The timers of a target. The timers change when the update that is being handled is acknowledged. */
const within = (changes: Changes, target: Target) => {
  const { inbox, update } = changes
  const isSameChat = target.chat_id !== undefined && target.chat_id === chatOf(update)
  return {
    target: toTarget(target),
    /** The type of the chat, if the type is known. */
    chat_type: isSameChat ? chatTypeOf(update) : undefined,
    inbox,
    write: (row: RowWrite): Effect.Effect<void, StoreError> =>
      Effect.suspend(() => {
        if (changes.isClosed) return inStore(inbox, row)
        changes.writeTimer(row)
        return Effect.void
      })
  }
}

/** Where the timers of a chat are stored. */
export type Schedule = ReturnType<typeof within>

/**
 * The timers of a target. While an update of the same inbox is handled, the timers change when the update is
 * acknowledged.
 */
export const ofTarget = (target: Target): Effect.Effect<Schedule, never, Inbox> =>
  Inbox.use((inbox) =>
    Effect.map(CurrentUpdate, (current) =>
      current?.changes?.store === inbox.store
        ? within(current.changes, target)
        : { target: toTarget(target), chat_type: undefined, inbox, write: (row) => inStore(inbox, row) }
    )
  )

/** Dies if an update of the inbox is being handled by a bot that does not handle the timer. */
export const requireHandler = (name: string, inbox: Inbox["Service"]): Effect.Effect<void> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(CurrentUpdate)?.changes?.store === inbox.store ? requireTimer(name) : Effect.void
  )
