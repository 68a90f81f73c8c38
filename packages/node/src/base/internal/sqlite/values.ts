import type { SQLInputValue } from "node:sqlite"

const kind = (value: unknown) => (typeof value === "object" ? (value?.constructor?.name ?? "object") : typeof value)

/** Safe integers are bound as integers. As doubles, a text column would store "5.0", and 5 / 2 would be 2.5. */
const toSql = (value: unknown): SQLInputValue => {
  if (value === null || typeof value === "string" || typeof value === "bigint") return value
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === "boolean") return value ? 1n : 0n
  if (value === undefined) return null
  if (value instanceof Uint8Array) return value
  // The driver would use the first object as named parameters, and bind nothing.
  throw new TypeError(
    `A value of type ${kind(value)} cannot be bound. Pass a string, a number, a bigint, a boolean or a Uint8Array.`
  )
}

export const toParameters = (params: ReadonlyArray<unknown>): Array<SQLInputValue> => params.map(toSql)

/** The driver reads integers as bigint. Safe integers become numbers. */
export const fromSql = (value: unknown): unknown =>
  typeof value === "bigint" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    ? Number(value)
    : value

export const toRow = (names: ReadonlyArray<string>, values: ReadonlyArray<unknown>): Record<string, unknown> => {
  const row: Record<string, unknown> = {}
  for (let index = 0; index < names.length; index++) row[names[index]!] = fromSql(values[index])
  return row
}
