import { nextTheme, theme } from "../theme.ts"
import { Icon } from "./Icon.tsx"

/** Chooses the colors of the page: as the system, dark or light. */
export const ThemeButton = () => (
  <button
    type="button"
    class="quiet"
    title={`Colors: ${theme.value}`}
    aria-label={`Colors: ${theme.value}`}
    onClick={nextTheme}
  >
    <Icon name="theme" />
  </button>
)
