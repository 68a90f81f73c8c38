import type { Block, Button, ChoiceOptions, Return } from "../../Menu.ts"
import { makeButton } from "./parts.ts"
import type { Of } from "../../../model/Update.ts"
import { grid } from "./blocks.ts"

type Callback = Of<"message_callback">

type Marks = readonly [on: string, off: string] | undefined

interface Options<K extends string, Chosen> extends ChoiceOptions<K> {
  readonly set: (chosen: Chosen, update: Callback) => Return
}

const defaultMarks = ["✓ ", ""] as const

/** A button that sets a value. A second tap of the button sets the same value. */
const setter = (
  name: string,
  value: string,
  label: { readonly text: string; readonly isOn: boolean; readonly marks: Marks },
  run: (update: Callback) => Return
): Button<unknown, unknown> =>
  makeButton((label.marks ?? defaultMarks)[label.isOn ? 0 : 1] + label.text, {
    _tag: "Press",
    name,
    value,
    isOnce: false,
    run
  })

/** A button that is on or off. */
export const toggle = (
  name: string,
  label: { readonly text: string; readonly isOn: boolean; readonly marks: Marks },
  set: (isOn: boolean, update: Callback) => Return
): Button<unknown, unknown> => {
  const { isOn } = label
  return setter(name, isOn ? "off" : "on", label, (update) => set(!isOn, update))
}

const keysOf = <K extends string>(choices: { readonly [Key in K]: string }) => Object.keys(choices) as Array<K>

/** Creates buttons of which one is on. */
export const radio = <K extends string>(
  name: string,
  { choices, chosen, columns = 1, marks, set }: Options<K, K> & { readonly chosen: K | undefined }
): Block<unknown, unknown> => {
  const buttons = keysOf(choices).map((key) =>
    setter(name, key, { text: choices[key], isOn: key === chosen, marks }, (update) => set(key, update))
  )
  return grid(buttons, columns)
}

/** Buttons of which any number is on. */
export const checkboxes = <K extends string>(
  name: string,
  { choices, chosen, columns = 1, marks, set }: Options<K, ReadonlyArray<K>> & { readonly chosen: ReadonlyArray<K> }
): Block<unknown, unknown> => {
  const keys = keysOf(choices)
  const buttons = keys.map((key) => {
    const isOn = chosen.includes(key)
    const isOnThen = (other: K) => (other === key ? !isOn : chosen.includes(other))
    return setter(name, `${isOn ? "-" : "+"}${key}`, { text: choices[key], isOn, marks }, (update) =>
      set(keys.filter(isOnThen), update)
    )
  })
  return grid(buttons, columns)
}
