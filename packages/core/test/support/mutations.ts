/** Pseudo-random numbers that depend on the seed only. */
export const makeRandom = (seed: number): ((below: number) => number) => {
  let state = seed | 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 8) % below
  }
}

const unusual: ReadonlyArray<unknown> = [
  null,
  undefined,
  true,
  "",
  "unknown",
  "image",
  "116328127605864690",
  0,
  -0,
  1.5,
  2 ** 53,
  Number.NaN,
  116328127605864690n,
  [],
  [null],
  ["\u0080116328127605864690"],
  {},
  { type: "image" },
  Object.create(null),
  new Date(0),
  Symbol.iterator
]

const names: ReadonlyArray<string> = [
  "type",
  "extra",
  "__proto__",
  "constructor",
  "toString",
  "0",
  "raw",
  "update_type"
]

/** Returns a copy of a value of JSON in which one part is replaced, removed, renamed or added. */
export const mutate = (value: unknown, random: (below: number) => number): unknown => {
  if (typeof value !== "object" || value === null || random(8) === 0) return unusual[random(unusual.length)]
  if (Array.isArray(value)) {
    const copy: Array<unknown> = [...value]
    const at = random(copy.length + 1)
    if (at === copy.length) return [...copy, unusual[random(unusual.length)]]
    copy[at] = mutate(copy[at], random)
    return copy
  }
  const entries: Array<[string, unknown]> = Object.entries(value)
  const at = random(entries.length + 1)
  const name = names[random(names.length)]
  if (at === entries.length) return Object.fromEntries([...entries, [name, unusual[random(unusual.length)]]])
  const [key, member] = entries[at]
  const kind = random(6)
  if (kind === 0) return Object.fromEntries(entries.filter((_, index) => index !== at))
  if (kind === 1) return Object.fromEntries(entries.map(([key, member], index) => [index === at ? name : key, member]))
  return Object.fromEntries(entries.map((entry, index) => (index === at ? [key, mutate(member, random)] : entry)))
}
