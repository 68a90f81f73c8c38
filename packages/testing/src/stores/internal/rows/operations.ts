import { InboxStore, type Row, type RowContent, type RowWrite } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"

let revisions = 0

/** Returns a write with a new revision. The text `undefined` deletes the row. */
export const put = (
  key: string,
  text: string | undefined,
  { expected, otherwise, ...content }: Partial<Omit<RowContent, "text">> & Pick<RowWrite, "expected" | "otherwise"> = {}
): RowWrite => ({
  key,
  row: text === undefined ? undefined : { text, ...content },
  revision: `revision-${++revisions}.a`,
  expected,
  otherwise
})

/** Writes rows together. */
export const write = (...rows: ReadonlyArray<RowWrite>) =>
  Effect.map(
    InboxStore.use((store) => store.write([{ rows }])),
    ([result]) => result
  )

export const read = (...keys: ReadonlyArray<string>) => InboxStore.use((store) => store.read(keys))

export const texts = (...keys: ReadonlyArray<string>) =>
  Effect.map(read(...keys), (rows) => rows.map((row) => row?.text))

export const revisionOf = (key: string) => Effect.map(read(key), ([row]) => row?.revision)

/** All pages of rows. */
export const pages = Effect.fnUntraced(function* (prefix: string, by: "key" | "due", limit: number) {
  const { rows } = yield* InboxStore
  const all: Array<Row> = []
  for (;;) {
    const page: ReadonlyArray<Row> = yield* rows({ prefix, by, after: all.at(-1), limit })
    all.push(...page)
    if (page.length < limit) return all
  }
})

/** The keys of all pages of rows. */
export const keysIn = (...list: Parameters<typeof pages>) =>
  Effect.map(pages(...list), (rows) => rows.map(({ key }) => key))
