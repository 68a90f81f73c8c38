import type { ProgressBar } from "@colloquy/core"
import { NodeProgress } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { PassThrough, type Writable } from "node:stream"

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

const terminal = (columns: number) => Object.assign(new PassThrough(), { isTTY: true, columns })

describe("progress in the terminal", () => {
  it.effect("is one line that is written over, and ends", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* showing({ title: "News" }, terminal(80))).replaceAll("\u001b[K", "").split("\r"), [
        "",
        "News [----]   0% 0/4",
        "News [#---]  25% 1/4",
        "News [##--]  50% 2/4",
        "News [###-]  75% 3/4",
        "News [####] 100% 4/4\n"
      ])
    })
  )

  it.effect("is never wrapped", () =>
    Effect.gen(function* () {
      const lines = (yield* showing({ title: "Name 👋" }, terminal(12))).trimEnd().split("\r").slice(1)
      assert.lengthOf(lines, 5)
      for (const line of lines) assert.isAtMost([...line.replace("\u001b[K", "")].length, 11)
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

  it.effect("leaves the line when the stream is interrupted", () =>
    Effect.gen(function* () {
      const output = terminal(80)
      yield* Stream.concat(Stream.make(steps[1]), Stream.never).pipe(
        NodeProgress.show({ output, width: 4 }),
        Stream.runDrain,
        Effect.timeoutOption("1 second"),
        Effect.raceFirst(Effect.forever(TestClock.adjust("1 second")))
      )
      assert.strictEqual(String(output.read()), "\r[#---]  25% 1/4\u001b[K\n")
    })
  )
})
