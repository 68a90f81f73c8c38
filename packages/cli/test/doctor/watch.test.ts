import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import { type Check, named, ok, problem, warning } from "../../src/doctor/check.ts"
import { checkAssumptions } from "../../src/doctor/command.ts"
import { watch, withDaily } from "../../src/doctor/watch.ts"
import { envFile, Process } from "../../src/base/settings.ts"
import { platform } from "../support/platform.ts"
import { run } from "../support/run.ts"

describe("doctor --watch", () => {
  it.effect("passes on only the checks whose states change, one for each subscription", () =>
    Effect.gen(function* () {
      const certificate = named("webhook certificate")
      const token = named("token")
      const bad = (detail: string) => certificate(problem(detail, "Renew it."))
      const good = (detail: string) => certificate(ok(detail))
      const inbox = (updates: number) => named("inbox")(warning(`${updates} updates`, "See `colloquy inbox list`."))
      const rounds: ReadonlyArray<ReadonlyArray<Check>> = [
        [token(ok("valid")), good("a"), bad("b"), inbox(1)],
        [inbox(2), bad("b"), good("a"), token(ok("valid"))],
        [token(ok("valid")), bad("a"), bad("b"), inbox(3)],
        [token(problem("rejected", "Set BOT_TOKEN.")), bad("a"), bad("b")],
        [token(ok("valid")), good("a"), good("b"), inbox(4)]
      ]
      let round = 0
      const printed: Array<string> = []
      const checks = Effect.sync(() => rounds[Math.min(round++, rounds.length - 1)]!)
      yield* Effect.forkChild(
        watch(checks, Duration.minutes(5), (checks, at) =>
          Effect.sync(() => {
            for (const { detail, name, status } of checks) printed.push(`${at / 60_000} ${name} ${status}: ${detail}`)
          })
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(printed, [
        "0 token ok: valid",
        "0 webhook certificate ok: a",
        "0 webhook certificate problem: b",
        "0 inbox warning: 1 updates",
        "10 webhook certificate problem: a",
        "10 webhook certificate problem: b",
        "15 token problem: rejected",
        "20 token ok: valid",
        "20 webhook certificate ok: a",
        "20 webhook certificate ok: b",
        "20 inbox warning: 4 updates"
      ])
    })
  )

  it.effect("compares the platform with the assumptions once a day", () =>
    Effect.gen(function* () {
      const runs = { own: 0, daily: 0 }
      const own = Effect.sync(() => [named("token")(ok(`run ${++runs.own}`))])
      const daily = Effect.sync(() => [named("platform")(problem(`run ${++runs.daily}`, "See docs/assumptions.md."))])
      const checks = yield* withDaily(own, daily)
      yield* Effect.forkChild(
        watch(checks, Duration.hours(1), () => Effect.void),
        { startImmediately: true }
      )
      yield* TestClock.adjust("71 hours")
      assert.deepStrictEqual(runs, { own: 72, daily: 3 })
    })
  )

  it.effect("has a problem for each assumption that the platform differs from", () =>
    Effect.gen(function* () {
      const { emulator, env } = yield* platform
      const { chat_id } = yield* emulator.chat({ bot: { admin: true } })
      const compared = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(
          checkAssumptions(chat_id).pipe(
            Effect.provideService(Process, { env, cwd: "/" }),
            Effect.provideService(envFile, Option.none())
          ),
          { startImmediately: true }
        )
        // The calls are made over HTTP in real time, and the pauses between them are in virtual time.
        const step = Effect.andThen(TestClock.adjust("1 second"), TestClock.withLive(Effect.sleep("5 millis")))
        yield* Effect.repeat(step, { while: () => fiber.pollUnsafe() === undefined })
        return (yield* Fiber.join(fiber)).map(({ detail, status }) => `${status}: ${detail}`)
      })
      assert.match((yield* compared).join(), /^ok: does as \d+ assumptions say$/)
      yield* Emulator.intercept((request, next) =>
        request.path === "/subscriptions" ? Effect.succeed(EmulatorHttp.respond(200, { urls: [] })) : next
      ).pipe(Effect.provideService(Emulator.Emulator, emulator))
      const [differing, ...others] = yield* compared
      assert.match(differing!, /^problem: listSubscriptions: expected `subscriptions`, and observed/)
      assert.deepStrictEqual(others, [])
    }).pipe(Effect.scoped)
  )

  it.live("prints a check again when its state changes", () =>
    Effect.gen(function* () {
      const { emulator, env } = yield* platform
      const lines: Array<string> = []
      const fiber = yield* Effect.forkChild(run(["doctor", "--watch", "--interval", "100 millis"], env, "/", lines))
      const until = (text: string) =>
        Effect.repeat(
          Effect.sync(() => lines.findIndex((line) => line.includes(text))),
          { until: (index) => index >= 0, schedule: Schedule.spaced("10 millis") }
        )
      const first = yield* until("ok       token: ")
      yield* emulator.revokeToken()
      const second = yield* until("problem  token: ")
      yield* Fiber.interrupt(fiber)
      assert.isBelow(first, second)
      assert.match(lines[second]!, /^\d{4}-\d\d-\d\dT\S+Z {2}problem {2}token: /)
      const unchanged = lines.filter((line) => line.includes(" versions: "))
      assert.lengthOf(unchanged, 1)
    }).pipe(Effect.scoped)
  )
})
