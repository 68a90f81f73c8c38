import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button } from "./Button.tsx"

/** The heading of a list, with the length of the list. */
export const CountedHeading = ({ count, title }: { readonly title: string; readonly count: number }) => (
  <h3>
    {title} <span class="count">{count}</span>
  </h3>
)

interface RowsProps<A> {
  readonly all: ReadonlyArray<A>
  readonly kind?: string
  /** The number of rows that are shown in any case. */
  readonly least?: number
  readonly children: (row: A) => ComponentChildren
}

/** The first rows of a list. The button below the rows shows more of them. */
export const Rows = <A,>({ all, children, kind = "log", least = 0 }: RowsProps<A>) => {
  const [count, setCount] = useState(100)
  return (
    <>
      <ol class={kind}>{all.slice(0, Math.max(count, least)).map(children)}</ol>
      {all.length > count ? <Button onClick={() => setCount(count + 300)}>Show more of {all.length}</Button> : null}
    </>
  )
}

interface Head {
  readonly status?: string
  readonly kind?: "good" | "warn" | "bad" | ""
  readonly title: ComponentChildren
  readonly line: ComponentChildren
  readonly aside: ComponentChildren
}

const headOf = ({ aside, kind = "", line, status, title }: Head) => (
  <>
    {status === undefined ? null : <span class={`status ${kind}`}>{status}</span>}
    <span class="log-text">
      <b>{title}</b>
      <bdi class="path">{line}</bdi>
    </span>
    <small>{aside}</small>
  </>
)

/** A row of a log. */
export const FlatRow = (head: Head) => <li class="log-row flat">{headOf(head)}</li>

/** A row that opens to show its details. `always` is shown below the head also while the row is closed. */
export const OpenRow = ({
  always,
  children,
  ...head
}: Head & { readonly always?: ComponentChildren; readonly children: ComponentChildren }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <li class="log-row">
      <button type="button" class="log-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {headOf(head)}
      </button>
      {always}
      {isOpen ? children : null}
    </li>
  )
}
