import type { ComponentChildren } from "preact"

/** A labelled field of a form. */
export const Field = ({
  children,
  hint,
  label
}: {
  readonly label: string
  readonly hint?: string
  readonly children: ComponentChildren
}) => (
  <label class="field">
    <span>{label}</span>
    {children}
    {hint === undefined ? null : <small>{hint}</small>}
  </label>
)

/** The values of the fields of a form, by name. An empty field is absent. */
export const valuesOf = (event: Event): Readonly<Record<string, string>> => {
  event.preventDefault()
  const data = new FormData(event.currentTarget as HTMLFormElement)
  return Object.fromEntries(
    [...data].flatMap(([name, value]) =>
      typeof value === "string" && value.trim() !== "" ? [[name, value.trim()]] : []
    )
  )
}
