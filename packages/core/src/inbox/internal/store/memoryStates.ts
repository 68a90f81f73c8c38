import type { StateKey, StateWrite, StoredState } from "../../InboxStore.ts"
import { userOfScope } from "./scopes.ts"

/** The state of a store in memory. */
export const makeStates = () => {
  const byName = new Map<string, Map<string, StoredState>>()

  const get = ({ name, scope }: StateKey): StoredState | undefined => byName.get(name)?.get(scope)

  const put = ({ name, revision, scope, value }: StateWrite): void => {
    const values = byName.get(name) ?? new Map<string, StoredState>()
    if (value === undefined) values.delete(scope)
    else values.set(scope, { ...value, revision })
    if (values.size > 0) byName.set(name, values)
    else byName.delete(name)
  }

  const remove = (isRemoved: (scope: string, value: StoredState) => boolean): number => {
    let removed = 0
    for (const values of byName.values()) {
      for (const [scope, value] of values) if (isRemoved(scope, value) && values.delete(scope)) removed++
    }
    return removed
  }

  return {
    get,
    /** Whether the stored revisions are the expected revisions. */
    isExpected: (writes: ReadonlyArray<StateWrite>): boolean =>
      writes.every((write) => get(write)?.revision === write.expected),
    write: (writes: ReadonlyArray<StateWrite>): void => writes.forEach(put),
    page: (name: string, after: string | undefined, limit: number): ReadonlyArray<StateKey & StoredState> =>
      [...(byName.get(name) ?? [])]
        .filter(([scope]) => after === undefined || scope > after)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([scope, value]) => ({ scope, name, ...value })),
    forget: (user: string): number => remove((scope) => userOfScope(scope) === user),
    cleanup: (expiredBefore: number): void =>
      void remove((_, { expiresAt }) => expiresAt !== undefined && expiresAt < expiredBefore)
  }
}
