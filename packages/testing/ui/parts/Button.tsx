import type { ComponentProps } from "preact"
import { Icon, type IconName } from "./Icon.tsx"

/** A button that does not submit a form. */
export const Button = (props: ComponentProps<"button">) => <button type="button" {...props} />

/** The button that submits a form. */
export const Submit = (props: ComponentProps<"button">) => <button type="submit" class="primary" {...props} />

/** A button with an icon in place of a text. */
export const IconButton = ({
  icon,
  label,
  ...props
}: ComponentProps<"button"> & { readonly icon: IconName; readonly label: string }) => (
  <button type="button" class="quiet" aria-label={label} {...props}>
    <Icon name={icon} />
  </button>
)
