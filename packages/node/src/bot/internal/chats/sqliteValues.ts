/** SQLite accepts 32,766 parameters. */
export const maxValues = 1024

/**
 * Repeats the last row up to the next of a few sizes, so that few statements are prepared. A row that is combined with
 * itself does not change. SQLite reads rows from JSON three times slower (benchmark `chats-track-over-bare`).
 */
export const padded = <A>(rows: ReadonlyArray<A>): ReadonlyArray<A> => {
  const last = rows.at(-1)
  if (last === undefined) return rows
  const step = Math.max(1, 2 ** (Math.ceil(Math.log2(rows.length)) - 3))
  const size = Math.ceil(rows.length / step) * step
  return [...rows, ...Array<A>(size - rows.length).fill(last)]
}
