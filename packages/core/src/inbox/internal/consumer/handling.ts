import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { CurrentAttempt } from "../../Handler.ts"
import * as RateLimiter from "../../../client/RateLimiter.ts"
import type { ChatId } from "../../../model/Recipient.ts"
import { CurrentLease, type Lease } from "../../../client/internal/currentLease.ts"
import { CurrentUpdate, type HandledUpdate } from "./currentUpdate.ts"
import type { Queued } from "../kernel/delivery.ts"

type Services = Context.Context<never>

/** The extension of the context of effects that handle an update. Updates of a chat can share an extension. */
export interface Handling {
  readonly chat_id: ChatId | undefined
  /** `undefined` if no other process uses the inbox. */
  readonly lease: Lease | undefined
  /** The services of the bot that received the update. `undefined` for the services of the program. */
  readonly services: Services | undefined
  /** The values that the updates of an inbox share. */
  readonly common: Common
  /** The last context that was extended, and the result: the next update mostly has the same. */
  base: Services | undefined
  context: Services | undefined
}

/** A context and its extension by the values that all updates of an inbox share. */
export interface Common {
  base: Services | undefined
  context: Services | undefined
}

/** A part of a delivery that is handled. */
type Handled = Pick<Queued, "attempt" | "handling"> & { readonly current: HandledUpdate }

const priority: Services = Context.make(RateLimiter.CurrentPriority, "reply")

const addCommon = (services: Services | undefined): Services =>
  services === undefined ? priority : Context.merge(services, priority)

const extend = (base: Services, handling: Handling): Services => {
  const { common } = handling
  if (common.base !== base) {
    common.base = base
    common.context = Context.merge(base, addCommon(handling.services))
  }
  let context = common.context!
  if (handling.chat_id !== undefined) context = Context.add(context, RateLimiter.CurrentChat, handling.chat_id)
  if (handling.lease !== undefined) context = Context.add(context, CurrentLease, handling.lease)
  return context
}

const contextOfOne = (base: Services, { current, handling }: Handled): Services => {
  if (handling.base !== base) {
    handling.base = base
    handling.context = extend(base, handling)
  }
  return Context.add(handling.context!, CurrentUpdate, current)
}

/** Several updates have no chat, no journal and no changes in common, except for the statements of their `group`. Their calls are made by the bot that all of them have. */
const contextOfMany = (base: Services, updates: ReadonlyArray<Handled>, group: HandledUpdate | undefined): Services => {
  // Updates of a chat follow each other in a batch, and share their handling.
  const handlings = new Set<Handling>()
  let last: Handling | undefined
  for (const { handling } of updates) if (handling !== last) handlings.add((last = handling))
  const all = [...handlings]
  const services = last?.services
  const common = addCommon(all.every((one) => one.services === services) ? services : undefined)
  const context = Context.add(Context.merge(base, common), CurrentUpdate, group)
  const leases = [...new Set(all.flatMap(({ lease }) => lease ?? []))]
  if (leases.length === 0) return context
  return Context.add(context, CurrentLease, {
    confirm: Effect.forEach(leases, ({ confirm }) => confirm, { discard: true }),
    isHeld: () => leases.every(({ isHeld }) => isHeld())
  })
}

/**
 * Returns the context in which a delivery is handled: the services of its bot, its chat, its attempt, the priority of
 * its calls, its lease, its journal, its changes and its answers. This function adds all parts of the handling of an
 * update that its effects use.
 */
export const contextOf = <R, S = never>(
  base: Context.Context<Exclude<R, S>>,
  {
    attempt,
    group,
    updates
  }: { readonly attempt: number; readonly group?: HandledUpdate | undefined; readonly updates: ReadonlyArray<Handled> }
): Context.Context<R> => {
  // A delivery has the services `S` of its bot, which the operators of `Deliveries` know by its type.
  const context: Services = updates.length === 1 ? contextOfOne(base, updates[0]!) : contextOfMany(base, updates, group)
  return (attempt === 1 ? context : Context.add(context, CurrentAttempt, attempt)) as Context.Context<R>
}
