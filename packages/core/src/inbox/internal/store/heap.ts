/** A priority queue: `pop` removes and returns the least value, `peek` only returns the least value. */
export const makeHeap = <A>(isLess: (a: A, b: A) => boolean) => {
  const items: Array<A> = []

  const sink = (value: A): void => {
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= items.length) break
      if (child + 1 < items.length && isLess(items[child + 1]!, items[child]!)) child++
      if (!isLess(items[child]!, value)) break
      items[at] = items[child]!
      at = child
    }
    items[at] = value
  }

  return {
    peek: (): A | undefined => items[0],
    push: (value: A): void => {
      let at = items.length
      items.push(value)
      while (at > 0) {
        const parent = (at - 1) >> 1
        if (!isLess(value, items[parent]!)) break
        items[at] = items[parent]!
        at = parent
      }
      items[at] = value
    },
    pop: (): A | undefined => {
      const first = items[0]
      const last = items.pop()
      if (items.length > 0) sink(last!)
      return first
    }
  }
}
