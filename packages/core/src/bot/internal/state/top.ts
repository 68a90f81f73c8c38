import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Inbox } from "../../../inbox/Inbox.ts"
import type { Row } from "../../../inbox/InboxStore.ts"
import {
  orderKey,
  orderPrefixOf,
  rowKey,
  scopeOfOrderKey,
  type StateValue
} from "../../../inbox/internal/store/stateRows.ts"
import { valuesInUse } from "./access.ts"

/** A value with its place in the order. */
export interface Placed {
  readonly scope: string
  readonly place: string
  readonly value: StateValue
}

/** How many rows a page has beyond the limit, for rows whose values were changed or deleted meanwhile. */
const spare = 10

const maxPage = 500

/**
 * Returns the values of a state with the greatest numbers, in order. The rows that sort values only say which values to read: a
 * value counts with the number that was written with the value, so that a row without its value changes nothing.
 */
export const top = Effect.fnUntraced(function* (name: string, limit: number) {
  const inbox = yield* Inbox
  const { store } = inbox
  const now = yield* Clock.currentTimeMillis
  const inUse = yield* valuesInUse(name, inbox)
  const found = new Map<string, Placed>()
  const add = (scope: string, value: StateValue | undefined): void => {
    const place = orderKey({ name, scope }, value)
    const isExpired = value?.expiresAt !== undefined && value.expiresAt <= now
    if (value !== undefined && place !== undefined && !isExpired) found.set(scope, { scope, place, value })
  }
  if (inUse !== undefined) for (const [scope, value] of inUse) add(scope, value)

  const pageSize = Math.min(limit + spare, maxPage)
  for (let after: Row | undefined; ;) {
    const page: ReadonlyArray<Row> = yield* store.rows({
      prefix: orderPrefixOf(name),
      by: "key",
      after,
      limit: pageSize
    })
    const scopes = page.map(({ key }) => scopeOfOrderKey(name, key)).filter((scope) => inUse?.has(scope) !== true)
    const values = scopes.length === 0 ? [] : yield* store.read(scopes.map((scope) => rowKey({ name, scope })))
    for (const [index, scope] of scopes.entries()) add(scope, values[index])
    after = page.at(-1)
    const all = [...found.values()].toSorted((a, b) => (a.place < b.place ? -1 : 1))
    // Pages behind this page have no place before its end.
    const end = page.length < pageSize ? undefined : after!.key
    if (end === undefined || (all.length >= limit && all[limit - 1]!.place <= end)) return all.slice(0, limit)
  }
})
