import { initialsOf } from "./format.ts"

/** The class with the color of a user or chat. The same id always has the same color. */
export const toneOf = (id: number): string => `tone-${Math.abs(id) % 6}`

interface Props {
  readonly id: number
  readonly name: string
  readonly isBot?: boolean
  readonly small?: boolean
}

/** A colored circle with initials. */
export const Avatar = ({ id, isBot = false, name, small = false }: Props) => (
  <span class={`avatar ${toneOf(id)}${small ? " small" : ""}${isBot ? " bot" : ""}`} aria-hidden="true">
    {initialsOf(name)}
  </span>
)
