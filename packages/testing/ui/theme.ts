import { effect, signal } from "@preact/signals"

const themes = ["auto", "dark", "light"] as const

type Theme = (typeof themes)[number]

const key = "colloquy-theme"

const stored = themes.find((each) => each === localStorage.getItem(key))

/** The colors of the page: `auto` follows the system. */
export const theme = signal<Theme>(stored ?? "auto")

effect(() => {
  document.documentElement.dataset["theme"] = theme.value
  localStorage.setItem(key, theme.value)
})

export const nextTheme = (): void => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length]
}
