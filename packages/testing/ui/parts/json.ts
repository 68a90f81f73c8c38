import * as Json from "@colloquy/core/base/Json"

/** JSON with line breaks. Exact integers do not change. */
export const pretty = (value: unknown): string => {
  if (typeof value === "string") return value
  const compact = Json.stringify(value)
  // Only for display: integers that a double cannot hold are kept as text.
  const kept = compact.replaceAll(/([:[,])(-?\d{16,})(?=[,\]}])/g, '$1"\\u0000$2"')
  return JSON.stringify(JSON.parse(kept), null, 2).replaceAll(/"\\u0000(-?\d+)"/g, "$1")
}
