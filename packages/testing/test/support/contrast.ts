/// <reference lib="dom" />
import type { Locator } from "playwright-core"

/** The contrast of the text of an element with its background, as WCAG defines it. */
export const contrastOf = (locator: Locator): Promise<number> =>
  locator.evaluate((element) => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!
    const channels = (color: string) => {
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = color
      canvas.fillRect(0, 0, 1, 1)
      return [...canvas.getImageData(0, 0, 1, 1).data]
    }
    const luminance = (color: ReadonlyArray<number>) => {
      const [r, g, b] = color.slice(0, 3).map((value) => {
        const c = value / 255
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    let behind: Element | null = element
    while (behind !== null && channels(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement
    const text = luminance(channels(getComputedStyle(element).color))
    const background = luminance(channels(getComputedStyle(behind ?? document.body).backgroundColor))
    return (Math.max(text, background) + 0.05) / (Math.min(text, background) + 0.05)
  })
