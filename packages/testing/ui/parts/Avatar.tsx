import { initialsOf } from "./format.ts"

/** A colored circle with initials. The same id always has the same color. */
export const Avatar = ({
  id,
  isBot = false,
  name,
  small = false
}: {
  readonly id: number
  readonly name: string
  readonly isBot?: boolean
  readonly small?: boolean
}) => (
  <span class={`avatar tone-${Math.abs(id) % 6}${small ? " small" : ""}${isBot ? " bot" : ""}`} aria-hidden="true">
    {initialsOf(name)}
  </span>
)
