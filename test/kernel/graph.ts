/** Copies and compares graphs of objects: the whole state of kernels and of the model around them. Frozen objects are values. */

type Fields = Record<string, unknown>

/** Numbers from here on are times. Only their distance from the present time matters. */
export const epoch = 2 ** 40

/** Times that are further in the past than this are equal: all durations are shorter. */
const past = 200_000

const keysOfClass = new Map<object, ReadonlyArray<string>>()

/** How often something has happened, which no decision depends on. */
const isCount = (key: string): boolean => key === "renewals"

/** The fields of an object. The constructor of a class sets all fields of its objects. */
const keysOf = (object: object, prototype: object): ReadonlyArray<string> => {
  if (prototype === Object.prototype) return Object.keys(object)
  let keys = keysOfClass.get(prototype)
  if (keys === undefined) keysOfClass.set(prototype, (keys = Object.keys(object)))
  return keys
}

/** Forgets the classes of a version of the kernel. */
export const forgetClasses = (): void => keysOfClass.clear()

const isValue = (value: unknown): boolean => typeof value !== "object" || value === null || Object.isFrozen(value)

/** Copies everything that can be reached and is not frozen. Functions are not copied. */
export const clone = <A extends object>(root: A): A => {
  const copies = new Map<object, object>()
  const copyOf = (value: unknown): unknown => (isValue(value) ? value : copied(value as object))
  const copied = (object: object): object => {
    const known = copies.get(object)
    if (known !== undefined) return known
    if (Array.isArray(object)) {
      const copy: Array<unknown> = []
      copies.set(object, copy)
      for (const element of object) copy.push(copyOf(element))
      return copy
    }
    if (object instanceof Map) {
      const copy = new Map<unknown, unknown>()
      copies.set(object, copy)
      for (const [key, value] of object) copy.set(copyOf(key), copyOf(value))
      return copy
    }
    if (object instanceof Set) {
      const copy = new Set<unknown>()
      copies.set(object, copy)
      for (const value of object) copy.add(copyOf(value))
      return copy
    }
    const prototype = Object.getPrototypeOf(object) as object
    const copy = Object.create(prototype) as Fields
    copies.set(object, copy)
    for (const key of keysOf(object, prototype)) copy[key] = copyOf((object as Fields)[key])
    return copy
  }
  return copied(root) as A
}

const hashOfText = new Map<string, number>()

const textHash = (text: string): number => {
  let hash = hashOfText.get(text)
  if (hash === undefined) {
    hash = 7
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
    hashOfText.set(text, hash)
  }
  return hash
}

const valueKeys = new WeakMap<object, number>()

/**
 * Returns a key of 53 bits: graphs that differ in more than the names of objects and the present time have different keys, except by
 * an accident whose probability is less than 1 in 1,000 for three million graphs.
 */
export const keyOf = (root: object, now: number): number => {
  let one = 0x811c9dc5
  let two = 0x9e3779b9
  const seen = new Map<object, number>()
  const add = (part: number): void => {
    one = Math.imul(one ^ part, 0x01000193)
    one ^= one >>> 15
    two = Math.imul(two + part, 0x85ebca6b)
    two ^= two >>> 13
  }
  const addNumber = (value: number): void => {
    if (value < epoch / 2) return Number.isInteger(value) ? add(value) : add(textHash(String(value)))
    if (value === Infinity) return add(11)
    add(12)
    add(Math.max(value - now, -past))
  }
  const addAny = (value: unknown): void => {
    if (typeof value === "number") addNumber(value)
    else if (typeof value === "string") add(textHash(value))
    else if (typeof value === "boolean") add(value ? 13 : 14)
    else if (typeof value === "object" && value !== null) addObject(value)
    else if (typeof value !== "function") add(15)
  }
  const addFrozen = (object: object): void => {
    let key = valueKeys.get(object)
    if (key === undefined) valueKeys.set(object, (key = textHash(JSON.stringify(object))))
    add(key)
  }
  const addObject = (object: object): void => {
    if (Object.isFrozen(object)) return addFrozen(object)
    const number = seen.get(object)
    if (number !== undefined) {
      add(16)
      return add(number)
    }
    seen.set(object, seen.size)
    if (Array.isArray(object)) {
      add(17 + object.length * 32)
      for (const element of object) addAny(element)
    } else if (object instanceof Map) {
      add(18 + object.size * 32)
      for (const [key, value] of object) {
        addAny(key)
        addAny(value)
      }
    } else if (object instanceof Set) {
      add(19 + object.size * 32)
      for (const value of object) addAny(value)
    } else {
      const prototype = Object.getPrototypeOf(object) as object
      add(20)
      for (const key of keysOf(object, prototype)) {
        if (isCount(key)) continue
        if (prototype === Object.prototype) add(textHash(key))
        addAny((object as Fields)[key])
      }
    }
  }
  addAny(root)
  return (one >>> 0) * 2 ** 21 + (two >>> 11)
}
