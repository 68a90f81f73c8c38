/**
 * Shows the progress of a broadcast, an upload or any other stream in the terminal.
 *
 * @since 0.1.0
 */
import type { UploadEvent } from "@colloquy/core/endpoints/Upload"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Stream from "effect/Stream"
import type { Writable } from "node:stream"

/**
 * The progress of a task, for example a `Broadcast.Progress`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Progress {
  /** The number of units that are done. */
  readonly done: number
  /** The number of units in all. Without it, no bar and no percentage are shown. */
  readonly total?: number | undefined
  /** The number of units done per second. */
  readonly rate?: number | undefined
  /** The estimated time until all units are done. */
  readonly timeLeft?: Duration.Duration | undefined
}

/**
 * Options of {@link show} and {@link showUpload}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /** The stream to write to. Default: `process.stderr`, so that standard output stays free for the program. */
  readonly output?: Writable | undefined
  /** A text before the bar. Default: none. */
  readonly title?: string | undefined
  /** Whether the line is updated in place. Default: `true` if `output` is a terminal (`isTTY`). */
  readonly isTerminal?: boolean | undefined
  /**
   * Minimum time between two lines if `output` is not a terminal. With `Infinity`, only the first and the last line are
   * written. Default: 30 seconds.
   */
  readonly interval?: Duration.Input | undefined
  /** The width of the bar, in characters. Default: 24. */
  readonly width?: number | undefined
  /**
   * Formats `done`, `total` and `rate`. Default: the number, rounded, in {@link show}; megabytes in {@link showUpload}.
   */
  readonly format?: ((count: number) => string) | undefined
}

const rounded = (count: number): string => String(Math.round(count))

/** `mm:ss`, or `hh:mm:ss` from one hour on. */
const formatDuration = (duration: Duration.Duration): string => {
  const seconds = Math.round(Duration.toSeconds(duration))
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return (parts[0] > 0 ? parts : parts.slice(1)).map((part) => String(part).padStart(2, "0")).join(":")
}

/**
 * Renders progress as one line of text.
 *
 * **Example** (A bar of eight characters)
 *
 * ```ts
 * import { NodeProgress } from "@colloquy/node"
 * import { Duration } from "effect"
 *
 * NodeProgress.render({ done: 750, total: 1000, rate: 29.7, timeLeft: Duration.seconds(8) }, { width: 8 })
 * // => "[######--]  75% 750/1000 30/s 00:08 left"
 * ```
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (
  { done, rate, timeLeft, total }: Progress,
  options: Pick<Options, "width" | "format"> = {}
): string => {
  const { format = rounded, width = 24 } = options
  const fraction = total === undefined || total <= 0 ? undefined : Math.min(1, done / total)
  const filled = Math.floor((fraction ?? 0) * width)
  return [
    ...(fraction === undefined
      ? [format(done)]
      : [
          `[${"#".repeat(filled)}${"-".repeat(width - filled)}]`,
          `${Math.floor(fraction * 100)}%`.padStart(4),
          `${format(done)}/${format(total ?? 0)}`
        ]),
    ...(rate === undefined ? [] : [`${format(rate)}/s`]),
    ...(timeLeft === undefined ? [] : [`${formatDuration(timeLeft)} left`])
  ].join(" ")
}

/** Overwrites the current line. Line wrapping is off during the write. */
const inPlace = (line: string): string => `\r\u001b[?7l${line}\u001b[K\u001b[?7h`

const guarded = new WeakSet<Writable>()

/** Ignores errors of the output: without a listener, an `error` event ends the process. */
const ignoreErrors = (output: Writable): void => {
  if (guarded.has(output)) return
  guarded.add(output)
  output.on("error", () => {})
}

const showWith = <A, E, R>(
  self: Stream.Stream<A, E, R>,
  progressOf: (element: A) => Progress | undefined,
  options: Options
): Stream.Stream<A, E, R> =>
  Stream.suspend(() => {
    const output: Writable & { readonly isTTY?: boolean } = options.output ?? process.stderr
    const isTerminal = options.isTerminal ?? output.isTTY === true
    const interval = Duration.toMillis(options.interval ?? "30 seconds")
    const title = options.title === undefined ? "" : `${options.title} `
    let writtenAt = -Infinity
    let latest: Progress | undefined
    let written: Progress | undefined
    ignoreErrors(output)

    const write = (text: string) => {
      if (output.writable) output.write(text)
    }

    const writeProgress = (progress: Progress) => {
      const line = title + render(progress, options)
      written = progress
      write(isTerminal ? inPlace(line) : `${line}\n`)
    }

    const onElement = (element: A) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const progress = progressOf(element)
        if (progress === undefined) return
        latest = progress
        if (!isTerminal && now - writtenAt < interval) return
        writtenAt = now
        writeProgress(progress)
      })

    const onEnd = Effect.sync(() => {
      if (latest === undefined) return
      if (written !== latest) writeProgress(latest)
      if (isTerminal) write("\n")
    })

    return self.pipe(Stream.tap(onElement), Stream.ensuring(onEnd))
  })

/**
 * Shows each progress of the stream as one line that is updated in place, and passes all elements on. When the stream
 * ends, the last line stays.
 *
 * If the output is not a terminal, such as the log of a service, a new line is written at most once per `interval`, and
 * the last progress is always written. Errors of the output are ignored: the stream continues without the line.
 *
 * **Example** (A broadcast with its progress)
 *
 * ```ts
 * import { type Broadcast, Broadcasts, type Chat } from "@colloquy/core"
 * import { NodeProgress } from "@colloquy/node"
 * import { Stream } from "effect"
 *
 * export const send = (recipients: ReadonlyArray<Chat.ChatId>) => {
 *   const news = Broadcasts.run({
 *     name: "news of May",
 *     recipients: Stream.fromIterable(recipients),
 *     total: recipients.length,
 *     message: { text: "News!" }
 *   })
 *   const bar = Broadcasts.progress("news of May").pipe(NodeProgress.show({ title: "News" }))
 *   return Stream.runDrain(Stream.merge(news, Stream.drain(bar)))
 * }
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const show: {
  (options?: Options): <A extends Progress, E, R>(self: Stream.Stream<A, E, R>) => Stream.Stream<A, E, R>
  <A extends Progress, E, R>(self: Stream.Stream<A, E, R>, options?: Options): Stream.Stream<A, E, R>
} = dual(
  (args) => Stream.isStream(args[0]),
  <A extends Progress, E, R>(self: Stream.Stream<A, E, R>, options: Options = {}): Stream.Stream<A, E, R> =>
    showWith(self, (progress) => progress, options)
)

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const progressOfEvent = (event: UploadEvent): Progress | undefined => {
  if (event._tag !== "Progress") return undefined
  const { bytesPerSecond: rate, sent: done, size: total } = event
  const timeLeft = total === undefined || !rate ? undefined : Duration.seconds((total - done) / rate)
  return { done, total, rate, timeLeft }
}

/**
 * Shows the progress of an upload, in megabytes, and passes all its events on. Otherwise like {@link show}.
 *
 * **Example** (An upload with its progress)
 *
 * ```ts
 * import { Uploads } from "@colloquy/core"
 * import { NodeProgress, NodeUploads } from "@colloquy/node"
 * import { Stream } from "effect"
 *
 * const upload = Uploads.events({ type: "video", source: NodeUploads.fromPath("video.mp4") }).pipe(
 *   NodeProgress.showUpload({ title: "video.mp4" }),
 *   Stream.runLast
 * )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const showUpload: {
  (options?: Options): <E, R>(self: Stream.Stream<UploadEvent, E, R>) => Stream.Stream<UploadEvent, E, R>
  <E, R>(self: Stream.Stream<UploadEvent, E, R>, options?: Options): Stream.Stream<UploadEvent, E, R>
} = dual(
  (args) => Stream.isStream(args[0]),
  <E, R>(self: Stream.Stream<UploadEvent, E, R>, options: Options = {}): Stream.Stream<UploadEvent, E, R> =>
    showWith(self, progressOfEvent, { format: megabytes, ...options })
)
