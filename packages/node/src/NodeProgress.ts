/**
 * Progress in the terminal, in place.
 *
 * @since 0.1.0
 */
import * as ProgressBar from "@colloquy/core/ProgressBar"
import type { UploadEvent } from "@colloquy/core/UploadEvent"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Stream from "effect/Stream"
import type { Writable } from "node:stream"

/**
 * Where progress is shown, and how.
 *
 * - `output`: standard error unless told, so that what the program prints can go elsewhere.
 * - `title`: a text before the bar.
 * - `isTerminal`: whether lines are written over each other. As the output says unless told.
 * - `every`: where it is no terminal, a line is written so often, 30 seconds unless told; with `Infinity` only the last.
 *
 * The `width` of the bar and the `format` of numbers are those of `ProgressBar`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends ProgressBar.BarOptions {
  readonly output?: Writable | undefined
  readonly title?: string | undefined
  readonly isTerminal?: boolean | undefined
  readonly every?: Duration.Input | undefined
}

/** A line at the beginning of the line of the cursor, which is not wrapped however long it is. */
const inPlace = (line: string): string => `\r\u001b[?7l${line}\u001b[K\u001b[?7h`

const guarded = new WeakSet<Writable>()

/** An output that breaks must not end the program. */
const guard = (output: Writable): void => {
  if (guarded.has(output)) return
  guarded.add(output)
  output.on("error", () => {})
}

/** Shows the progress of the elements that have one. */
const showing = <A, E, R>(
  self: Stream.Stream<A, E, R>,
  progressOf: (element: A) => ProgressBar.Progress | undefined,
  options: Options
): Stream.Stream<A, E, R> =>
  Stream.suspend(() => {
    const output: Writable & { readonly isTTY?: boolean } = options.output ?? process.stderr
    const isTerminal = options.isTerminal ?? output.isTTY === true
    const every = Duration.toMillis(options.every ?? "30 seconds")
    const title = options.title === undefined ? "" : `${options.title} `
    let shownAt = -Infinity
    let last: ProgressBar.Progress | undefined
    let shown: ProgressBar.Progress | undefined
    guard(output)

    const write = (text: string) => {
      if (output.writable) output.write(text)
    }

    const showNow = (progress: ProgressBar.Progress) => {
      const line = title + ProgressBar.render(progress, options)
      shown = progress
      write(isTerminal ? inPlace(line) : `${line}\n`)
    }

    const pass = (element: A) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const progress = progressOf(element)
        if (progress === undefined) return
        last = progress
        if (!isTerminal && now - shownAt < every) return
        shownAt = now
        showNow(progress)
      })

    const leave = Effect.sync(() => {
      if (last === undefined) return
      if (shown !== last) showNow(last)
      if (isTerminal) write("\n")
    })

    return self.pipe(Stream.tap(pass), Stream.ensuring(leave))
  })

/**
 * Shows the progress that goes by as one line in the terminal, and passes the elements on. Where the output is no
 * terminal, such as the log of a service, a line is written now and then. The last one stays. Nothing can fail here:
 * an output that is closed is written to no more.
 *
 * **Example** (A broadcast with its bar)
 *
 * ```ts
 * import { Broadcast, type Chat } from "@colloquy/core"
 * import { NodeProgress } from "@colloquy/node"
 * import { Stream } from "effect"
 *
 * export const send = (recipients: ReadonlyArray<Chat.ChatId>) => {
 *   const news = Broadcast.run({
 *     name: "news of May",
 *     recipients: Stream.fromIterable(recipients),
 *     total: recipients.length,
 *     message: { text: "News!" }
 *   })
 *   const bar = Broadcast.progress("news of May").pipe(NodeProgress.show({ title: "News" }))
 *   return Stream.runDrain(Stream.merge(news, Stream.drain(bar)))
 * }
 * ```
 *
 * @category operators
 * @since 0.1.0
 */
export const show: {
  (options?: Options): <A extends ProgressBar.Progress, E, R>(self: Stream.Stream<A, E, R>) => Stream.Stream<A, E, R>
  <A extends ProgressBar.Progress, E, R>(self: Stream.Stream<A, E, R>, options?: Options): Stream.Stream<A, E, R>
} = dual(
  (args) => Stream.isStream(args[0]),
  <A extends ProgressBar.Progress, E, R>(self: Stream.Stream<A, E, R>, options: Options = {}): Stream.Stream<A, E, R> =>
    showing(self, (progress) => progress, options)
)

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const progressOfUpload = (event: UploadEvent): ProgressBar.Progress | undefined => {
  if (event._tag !== "Progress") return undefined
  const { bytesPerSecond: rate, sent: done, size: total } = event
  const timeLeft = total === undefined || !rate ? undefined : Duration.seconds((total - done) / rate)
  return { done, total, rate, timeLeft }
}

/**
 * {@link show} for the events of an upload, in megabytes.
 *
 * **Example**
 *
 * ```ts
 * import { Uploads } from "@colloquy/core"
 * import { NodeProgress, NodeUploads } from "@colloquy/node"
 * import { Stream } from "effect"
 *
 * const upload = Uploads.events({ type: "video", source: NodeUploads.fromPath("film.mp4") }).pipe(
 *   NodeProgress.showUpload({ title: "film.mp4" }),
 *   Stream.runLast
 * )
 * ```
 *
 * @category operators
 * @since 0.1.0
 */
export const showUpload =
  (options: Options = {}) =>
  <E, R>(self: Stream.Stream<UploadEvent, E, R>): Stream.Stream<UploadEvent, E, R> =>
    showing(self, progressOfUpload, { format: megabytes, ...options })
