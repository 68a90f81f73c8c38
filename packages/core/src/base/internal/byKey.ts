/** Returns a function that makes one value for each key, and keeps all values. For keys that are few. */
export const byKey = <K extends string | number, V extends {}>(make: (key: K) => V): ((key: K) => V) => {
  const made = new Map<K, V>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}
