import { type ProgressBar, UploadEvent } from "@colloquy/core"
import { NodeProgress } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { PassThrough, Writable } from "node:stream"

const steps: ReadonlyArray<ProgressBar.Progress> = [0, 1, 2, 3, 4].map((done) => ({ done, total: 4 }))

/** What is written while the steps go by, one a second. */
const showing = (options: NodeProgress.Options, output: Writable = new PassThrough()) =>
  Effect.gen(function* () {
    const passed = yield* Stream.fromIterable(steps).pipe(
      Stream.rechunk(1),
      Stream.schedule(Schedule.spaced("1 second")),
      NodeProgress.show({ ...options, output, width: 4 }),
      Stream.runCollect,
      Effect.raceFirst(Effect.forever(TestClock.adjust("1 second")))
    )
    assert.deepStrictEqual(passed, steps)
    return String((output as PassThrough).read() ?? "")
  })

const terminal = () => Object.assign(new PassThrough(), { isTTY: true })

const inPlace = (line: string) => `\r\u001b[?7l${line}\u001b[K\u001b[?7h`

describe("progress in the terminal", () => {
  it.effect("is one line that is written over and never wrapped, and ends", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* showing({ title: "News" }, terminal()),
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

  it.effect("is a line now and then where there is no terminal, and the last one", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* showing({ every: "3 seconds" }), "[----]   0% 0/4\n[###-]  75% 3/4\n[####] 100% 4/4\n")
      assert.strictEqual(yield* showing({ every: Infinity }), "[----]   0% 0/4\n[####] 100% 4/4\n")
    })
  )

  it.effect("stops at an output that is closed, and the elements go on", () =>
    Effect.gen(function* () {
      const output = new PassThrough()
      output.end()
      assert.strictEqual(yield* showing({ isTerminal: true }, output), "")
    })
  )

  it.effect("passes the elements on when the output breaks", () =>
    Effect.gen(function* () {
      const broken = new Writable({ write: (_, __, done) => done(new Error("broken pipe")) })
      yield* showing({ isTerminal: true }, Object.assign(broken, { read: () => null }))
    })
  )

  it.effect("shows an upload in megabytes, with its rate and the time left, and passes all its events on", () =>
    Effect.gen(function* () {
      const output = new PassThrough()
      const attachment = { type: "video", payload: { token: "t" } } as const
      const events = [
        UploadEvent.UploadEvent.Progress({ sent: 0 }),
        UploadEvent.UploadEvent.Progress({ sent: 500_000, size: 2_000_000, percent: 25, bytesPerSecond: 300_000 }),
        UploadEvent.UploadEvent.Completed({ attachment })
      ]
      const passed = yield* Stream.fromIterable(events).pipe(
        NodeProgress.showUpload({ title: "film.mp4", output, width: 4, every: 0 }),
        Stream.runCollect
      )
      assert.deepStrictEqual(passed, events)
      assert.strictEqual(
        String(output.read()),
        "film.mp4 0.0 MB\nfilm.mp4 [#---]  25% 0.5 MB/2.0 MB 0.3 MB/s 00:05 left\n"
      )
    })
  )

  it.effect("leaves the line when the stream is interrupted", () =>
    Effect.gen(function* () {
      const output = terminal()
      yield* Stream.concat(Stream.make(steps[1]), Stream.never).pipe(
        NodeProgress.show({ output, width: 4 }),
        Stream.runDrain,
        Effect.timeoutOption("1 second"),
        Effect.raceFirst(Effect.forever(TestClock.adjust("1 second")))
      )
      assert.strictEqual(String(output.read()), `${inPlace("[#---]  25% 1/4")}\n`)
    })
  )
})
