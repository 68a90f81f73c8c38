/** A function that keeps its results in a map. */
export const memoize =
  <K, V>(make: (key: K) => V, made = new Map<K, V>()) =>
  (key: K): V => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
