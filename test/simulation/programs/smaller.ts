/** Smaller versions of the parts of plans. */

/** The list without its halves, quarters and so on, and without each of its elements. The smallest lists come first. */
export const smallerLists = <A>(list: ReadonlyArray<A>, min = 0): ReadonlyArray<ReadonlyArray<A>> => {
  const smaller: Array<ReadonlyArray<A>> = []
  for (let size = Math.ceil(list.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < list.length; from += size) {
      const rest = [...list.slice(0, from), ...list.slice(from + size)]
      if (rest.length >= min && rest.length < list.length) smaller.push(rest)
    }
  }
  return smaller
}

/** The list with one of its elements replaced by each smaller one. */
export const withSmaller = <A>(
  list: ReadonlyArray<A>,
  smallerOf: (element: A) => ReadonlyArray<A>
): ReadonlyArray<ReadonlyArray<A>> =>
  list.flatMap((element, index) =>
    smallerOf(element).map((smaller) => [...list.slice(0, index), smaller, ...list.slice(index + 1)])
  )
