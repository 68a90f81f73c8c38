import { emulatorNow } from "../store.ts"

const two = (n: number): string => String(n).padStart(2, "0")

/** The time of day. */
export const timeOf = (at: number): string => {
  const date = new Date(at)
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

export const preciseTime = (at: number): string => {
  const date = new Date(at)
  return `${timeOf(at)}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

export const dayOf = (at: number): string => {
  const date = new Date(at)
  return `${date.getDate()} ${months[date.getMonth()]} ${date.getFullYear()}`
}

/** The time of today, or the day. */
export const shortDate = (at: number): string =>
  dayOf(at) === dayOf(emulatorNow()) ? timeOf(at) : dayOf(at).replace(/ \d+$/, "")

/** A length of time in words, such as `2 min 30 s`. */
export const durationOf = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

export const sizeOf = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KB`
  return bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MB` : `${(bytes / 1024 ** 3).toFixed(2)} GB`
}

/** The URL, or `undefined` for an unsafe URL. */
export const safeUrl = (url: string | null | undefined): string | undefined => {
  if (url == null || !URL.canParse(url)) return undefined
  return ["http:", "https:", "mailto:", "tel:"].includes(new URL(url).protocol) ? url : undefined
}

/** The first letters of a name. */
export const initialsOf = (name: string): string => {
  const words = name.trim().split(/\s+/).slice(0, 2)
  return words
    .map((word) => [...new Intl.Segmenter().segment(word)][0]?.segment.slice(0, 4) ?? "")
    .join("")
    .toUpperCase()
}
