import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button } from "../parts/Button.tsx"
import { dayOf, preciseTime } from "../parts/format.ts"
import { pretty } from "../parts/json.ts"
import { type Query, useView, type Views } from "./client.ts"

type Lists = Omit<Views, "status">

type Row<K extends keyof Lists> = Lists[K]["rows"][number]

/** The day and the time. */
export const momentOf = (at: number): string => `${dayOf(at)} ${preciseTime(at).slice(0, 8)}`

const pageSize = 50

const maxRows = 1000

interface Props<K extends keyof Lists> {
  readonly name: K
  readonly query?: Query
  readonly nothing: string
  readonly children: (row: Row<K>) => ComponentChildren
}

/** The rows of a list. A list that is cut off says so. */
export const List = <K extends keyof Lists>({ children, name, nothing, query = {} }: Props<K>) => {
  const [limit, setLimit] = useState(pageSize)
  const { data, error } = useView(name, { ...query, limit })
  if (error !== undefined) return <p class="empty">{error}</p>
  if (data === undefined) return <p class="empty">Reading…</p>
  if (data.rows.length === 0) return <p class="empty">{nothing}</p>
  const rows: ReadonlyArray<Row<K>> = data.rows
  return (
    <>
      <ol class="log">{rows.map(children)}</ol>
      {data.more ? (
        <p class="note" role="status">
          There are more than these {rows.length}.{" "}
          {limit < maxRows ? (
            <Button onClick={() => setLimit(Math.min(maxRows, limit * 4))}>Show more</Button>
          ) : (
            "The command prints all of them."
          )}
        </p>
      ) : null}
    </>
  )
}

/** A value as JSON. */
export const Code = ({ label, value }: { readonly label: string; readonly value: unknown }) => (
  <pre class="code" tabIndex={0} aria-label={label}>
    {pretty(value)}
  </pre>
)
