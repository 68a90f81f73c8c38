/** How many letters must be put in, left out or changed to make one name of the other. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (from[i] === to[j] ? 0 : 1)))
    }
    row = next
  }
  return row[to.length]
}

/** So many letters are a slip of the hand. */
const slip = 2

/** The name that was probably meant. */
export const nearest = (given: string, names: ReadonlyArray<string>): string | undefined => {
  let found: string | undefined
  let least = slip + 1
  for (const name of names) {
    if (Math.abs(given.length - name.length) > slip) continue
    const far = distance(given.toLowerCase(), name.toLowerCase())
    if (far >= least) continue
    found = name
    least = far
  }
  return found
}
