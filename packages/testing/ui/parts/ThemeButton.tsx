import { IconButton } from "./Button.tsx"
import { nextTheme, theme } from "../theme.ts"

/** Chooses the colors of the page: as the system, dark or light. */
export const ThemeButton = () => (
  <IconButton icon="theme" title={`Colors: ${theme.value}`} label={`Colors: ${theme.value}`} onClick={nextTheme} />
)
