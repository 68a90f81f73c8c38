import { effect, signal } from "@preact/signals"

/** The parts of the page whose width can be changed: pixels, and percent for `split`. */
export type SizeName = "sidebar" | "tools" | "split"

const key = "colloquy-sizes"

const read = (): Partial<Record<SizeName, number>> => {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Record<SizeName, number>>
  } catch {
    return {}
  }
}

/** The widths that the person has chosen. */
export const sizes = signal(read())

effect(() => localStorage.setItem(key, JSON.stringify(sizes.value)))

/** The chosen widths as properties of the style. */
export const sizeStyle = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(sizes.value).map(([name, size]) => [`--${name}`, `${size}${name === "split" ? "%" : "px"}`])
  )
