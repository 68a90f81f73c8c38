import type { Row, RowWrite } from "../../InboxStore.ts"
import type { Snapshot } from "../consumer/cells.ts"
import { segment } from "./keys.ts"

/** The key of a value of the state. */
export interface StateKey {
  /** The scope of the value: `chat:1`, `user:2`, `chat:1/user:2`, `bot`, or `key:` and the JSON text of the key. */
  readonly scope: string
  /** The name of the state. */
  readonly name: string
}

/**
 * A value of the state: the JSON text `[version, value]`, or `[[version, order], value]` if the values of the state are sorted by
 * a number.
 */
export type StateValue = Pick<Row, "text" | "expiresAt">

/** The beginning of the keys of the rows of all values. */
export const prefix = "state/"

/** The beginning of the keys of the rows of a state. */
export const prefixOf = (name: string): string => `${prefix}${segment(name)}/`

/** Returns the key of the row of a value. */
export const rowKey = ({ name, scope }: StateKey): string => `${prefixOf(name)}${scope}`

/** Returns the user of a scope. */
export const userOfScope = (scope: string): string | undefined => /(?:^|\/)(user:[^/]+)$/.exec(scope)?.[1]

/** The beginning of the keys of the rows that sort the values of all states. */
export const orderPrefix = "stateOrder/"

/** The beginning of the keys of the rows that sort the values of a state. */
export const orderPrefixOf = (name: string): string => `${orderPrefix}${segment(name)}/`

const bits = new DataView(new ArrayBuffer(8))

/** Returns 16 digits. The order of the digits is that of the numbers, the greatest number first. */
const digitsOf = (order: number): string => {
  bits.setFloat64(0, order)
  const raw = bits.getBigUint64(0)
  return (order < 0 ? raw : BigInt.asUintN(63, ~raw)).toString(16).padStart(16, "0")
}

const head = /^\[\[\d+,(-?[\d.e+-]+)\],/

/**
 * Returns the key of the row that sorts a value, or `undefined` if the value is not sorted. The number is that of the text, not of
 * the program, so that programs with other numbers find the row.
 */
export const orderKey = ({ name, scope }: StateKey, value: StateValue | undefined): string | undefined => {
  const order = value?.text.startsWith("[[") === true ? head.exec(value.text)?.[1] : undefined
  return order === undefined ? undefined : `${orderPrefixOf(name)}${digitsOf(Number(order))}/${scope}`
}

/** Returns the scope of a value from the key of the row that sorts the value. */
export const scopeOfOrderKey = (name: string, key: string): string =>
  key.slice(orderPrefixOf(name).length + "0123456789abcdef/".length)

/**
 * Returns the writes of a value and of the row that sorts the value, if the stored value has the revision that was read. The
 * condition of the value protects the other row, which only writers of the value write.
 */
export const toWrites = (
  key: StateKey,
  read: Pick<Snapshot, "revision" | "value">,
  value: StateValue | undefined,
  revision: string
): ReadonlyArray<RowWrite> => {
  const user = userOfScope(key.scope)
  const expiresAt = value?.expiresAt
  const row = value && { text: value.text, expiresAt, user }
  const write = { key: rowKey(key), row, expected: read.revision ?? null, revision }
  const before = orderKey(key, read.value)
  const after = orderKey(key, value)
  if (before === after && read.value?.expiresAt === expiresAt) return [write]
  const writes: Array<RowWrite> = [write]
  if (before !== undefined && before !== after) writes.push({ key: before, row: undefined, revision })
  if (after !== undefined) writes.push({ key: after, row: { text: "", expiresAt, user }, revision })
  return writes
}
