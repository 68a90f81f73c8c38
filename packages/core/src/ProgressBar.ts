/**
 * Progress as a line of text for a terminal.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"

/**
 * What a line shows: `done` of `total` (a bar and a percentage, where the total is known), a `rate` a second, and the
 * time left. A `Broadcast.Progress` is one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Progress {
  readonly done: number
  readonly total?: number | undefined
  readonly rate?: number | undefined
  readonly timeLeft?: Duration.Duration | undefined
}

/**
 * How a line looks: the `width` of its bar in characters, 24 unless told, and how numbers are written.
 *
 * @category models
 * @since 0.1.0
 */
export interface BarOptions {
  readonly width?: number | undefined
  readonly format?: ((count: number) => string) | undefined
}

const whole = (count: number): string => String(Math.round(count))

/** Minutes and seconds, hours where there are any. */
const clock = (duration: Duration.Duration): string => {
  const seconds = Math.round(Duration.toSeconds(duration))
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return (parts[0] > 0 ? parts : parts.slice(1)).map((part) => String(part).padStart(2, "0")).join(":")
}

/**
 * A line that shows progress.
 *
 * **Example**
 *
 * ```ts
 * import { ProgressBar } from "@colloquy/core"
 * import { Duration } from "effect"
 *
 * ProgressBar.render({ done: 750, total: 1000, rate: 29.7, timeLeft: Duration.seconds(8) }, { width: 8 })
 * // => "[######--]  75% 750/1000 30/s 00:08 left"
 * ```
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = ({ done, rate, timeLeft, total }: Progress, options: BarOptions = {}): string => {
  const { format = whole, width = 24 } = options
  const share = total === undefined || total <= 0 ? undefined : Math.min(1, done / total)
  const full = Math.floor((share ?? 0) * width)
  return [
    ...(share === undefined
      ? [format(done)]
      : [
          `[${"#".repeat(full)}${"-".repeat(width - full)}]`,
          `${Math.floor(share * 100)}%`.padStart(4),
          `${format(done)}/${format(total ?? 0)}`
        ]),
    ...(rate === undefined ? [] : [`${format(rate)}/s`]),
    ...(timeLeft === undefined ? [] : [`${clock(timeLeft)} left`])
  ].join(" ")
}
