import type { Row, RowWrite } from "../../InboxStore.ts"
import { segment } from "./keys.ts"

/** The key of a value of the state. */
export interface StateKey {
  /** The scope of the value: `chat:1`, `user:2`, `chat:1/user:2`, or `bot`. */
  readonly scope: string
  /** The name of the state. */
  readonly name: string
}

/** A value of the state: the JSON text of the version of its schema and of the value. */
export type StateValue = Pick<Row, "text" | "expiresAt">

/** The beginning of the keys of the rows of all values. */
export const prefix = "state/"

/** The beginning of the keys of the rows of a state. */
export const prefixOf = (name: string): string => `${prefix}${segment(name)}/`

/** Returns the key of the row of a value. */
export const rowKey = ({ name, scope }: StateKey): string => `${prefixOf(name)}${scope}`

/** Returns the user of a scope. */
export const userOfScope = (scope: string): string | undefined => /(?:^|\/)(user:[^/]+)$/.exec(scope)?.[1]

/** Returns the write of a value, if the stored value has the revision that was read. */
export const toWrite = (
  key: StateKey,
  value: StateValue | undefined,
  read: string | undefined,
  revision: string
): RowWrite => ({
  key: rowKey(key),
  row: value && { text: value.text, expiresAt: value.expiresAt, user: userOfScope(key.scope) },
  expected: read ?? null,
  revision
})
