import type { ComponentChildren, ComponentProps, VNode } from "preact"

interface Labels {
  readonly label: string
  readonly hint?: string | undefined
}

/** A labelled field of a form. */
export const Field = ({ children, hint, label }: Labels & { readonly children: ComponentChildren }) => (
  <label class="field">
    <span>{label}</span>
    {children}
    {hint === undefined ? null : <small>{hint}</small>}
  </label>
)

/** A labelled input. */
export const Input = ({ hint, label, ...input }: Labels & ComponentProps<"input">) => (
  <Field label={label} hint={hint}>
    <input {...input} />
  </Field>
)

/** A choice between texts, each with its value. */
export const Select = ({
  options,
  ...select
}: ComponentProps<"select"> & { readonly options: ReadonlyArray<readonly [value: string | number, text: string]> }) => (
  <select {...select}>
    {options.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
)

/** A labelled choice. */
export const Choice = ({ hint, label, ...select }: Labels & ComponentProps<typeof Select>) => (
  <Field label={label} hint={hint}>
    <Select {...select} />
  </Field>
)

interface CheckProps extends Pick<ComponentProps<"input">, "name" | "checked" | "disabled" | "onChange"> {
  readonly text: VNode | string
}

/** A box that is checked or not, with a text. */
export const Check = ({ text, ...input }: CheckProps) => (
  <label class="check">
    <input type="checkbox" {...input} /> {text}
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
