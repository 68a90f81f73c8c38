import { Upload } from "@colloquy/core"
import { NodeProgress } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { PassThrough, type Readable, type Writable } from "node:stream"

const steps: ReadonlyArray<NodeProgress.Progress> = [0, 1, 2, 3, 4].map((done) => ({ done, total: 4 }))

const textOf = (output: Readable): string => {
  const chunks: Array<string> = []
  for (let chunk: unknown = output.read(); chunk !== null; chunk = output.read()) chunks.push(String(chunk))
  return chunks.join("")
}

/** Returns what is written while one step per second goes through `show`. */
const outputOf = (options: NodeProgress.Options, output = new PassThrough()) =>
  Effect.gen(function* () {
    const passed = yield* Stream.fromIterable(steps).pipe(
      Stream.rechunk(1),
      Stream.schedule(Schedule.spaced("1 second")),
      NodeProgress.show({ ...options, output, width: 4 }),
      Stream.runCollect,
      Effect.raceFirst(Effect.forever(TestClock.adjust("1 second")))
    )
    assert.deepStrictEqual(passed, steps)
    return textOf(output)
  })

const terminal = () => Object.assign(new PassThrough(), { isTTY: true })

const inPlace = (line: string) => `\r\u001b[?7l${line}\u001b[K\u001b[?7h`

describe("NodeProgress", () => {
  describe("render", () => {
    it("shows the percentage, the counts, the rate and the time left", () => {
      const progress = { done: 750, total: 1000, rate: 29.7, timeLeft: Duration.seconds(3661) }
      assert.strictEqual(NodeProgress.render(progress, { width: 8 }), "[######--]  75% 750/1000 30/s 01:01:01 left")
    })

    it("fills the bar only when all units are done", () => {
      assert.strictEqual(NodeProgress.render({ done: 999, total: 1000 }, { width: 4 }), "[###-]  99% 999/1000")
      assert.strictEqual(NodeProgress.render({ done: 1000, total: 1000 }, { width: 4 }), "[####] 100% 1000/1000")
      assert.strictEqual(NodeProgress.render({ done: 1200, total: 1000 }, { width: 4 }), "[####] 100% 1200/1000")
    })

    it("shows only the count and the rate, in the given format, if the total is unknown", () => {
      const format = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
      assert.strictEqual(NodeProgress.render({ done: 2_500_000, rate: 1e6 }, { format }), "2.5 MB 1.0 MB/s")
    })
  })

  describe("show", () => {
    it.effect("updates one line in place in a terminal, never wraps it, and ends it with a line break", () =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* outputOf({ title: "News" }, terminal()),
          [
            inPlace("News [----]   0% 0/4"),
            inPlace("News [#---]  25% 1/4"),
            inPlace("News [##--]  50% 2/4"),
            inPlace("News [###-]  75% 3/4"),
            inPlace("News [####] 100% 4/4"),
            "\n"
          ].join("")
        )
      })
    )

    it.effect("writes one line per interval and the last progress if the output is not a terminal", () =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* outputOf({ interval: "3 seconds" }),
          "[----]   0% 0/4\n[###-]  75% 3/4\n[####] 100% 4/4\n"
        )
        assert.strictEqual(yield* outputOf({ interval: Infinity }), "[----]   0% 0/4\n[####] 100% 4/4\n")
      })
    )

    it.effect("writes nothing to an output that is closed, and passes the elements on", () =>
      Effect.gen(function* () {
        const output = new PassThrough()
        output.end()
        assert.strictEqual(yield* outputOf({ isTerminal: true }, output), "")
      })
    )

    it.effect("passes the elements on if the output fails", () =>
      Effect.gen(function* () {
        const broken = new PassThrough({ write: (_, __, done) => done(new Error("broken pipe")) })
        yield* outputOf({ isTerminal: true }, broken)
      })
    )

    it.effect("ends the line when the stream is interrupted", () =>
      Effect.gen(function* () {
        const output = terminal()
        yield* Stream.concat(Stream.make(steps[1]), Stream.never).pipe(
          NodeProgress.show({ output, width: 4 }),
          Stream.runDrain,
          Effect.timeoutOption("1 second"),
          Effect.raceFirst(Effect.forever(TestClock.adjust("1 second")))
        )
        assert.strictEqual(textOf(output), `${inPlace("[#---]  25% 1/4")}\n`)
      })
    )
  })

  describe("showUpload", () => {
    it.effect("shows megabytes, the rate and the time left, and passes all events on", () =>
      Effect.gen(function* () {
        const attachment = { type: "video", payload: { token: "t" } } as const
        const events = [
          Upload.UploadEvent.Progress({ sent: 0 }),
          Upload.UploadEvent.Progress({ sent: 500_000, size: 2_000_000, percent: 25, bytesPerSecond: 300_000 }),
          Upload.UploadEvent.Completed({ attachment })
        ]
        const show = (output: Writable) => ({ title: "video.mp4", output, width: 4, interval: 0 })
        const [first, second] = [new PassThrough(), new PassThrough()]
        const passed = [
          yield* Stream.fromIterable(events).pipe(NodeProgress.showUpload(show(first)), Stream.runCollect),
          yield* Stream.runCollect(NodeProgress.showUpload(Stream.fromIterable(events), show(second)))
        ]
        assert.deepStrictEqual(passed, [events, events])
        for (const output of [first, second]) {
          assert.strictEqual(
            textOf(output),
            "video.mp4 0.0 MB\nvideo.mp4 [#---]  25% 0.5 MB/2.0 MB 0.3 MB/s 00:05 left\n"
          )
        }
      })
    )
  })
})
