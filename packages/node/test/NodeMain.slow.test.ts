import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { start } from "./support/programs.ts"
import { post, started, until } from "./support/webhooks.ts"

describe("NodeMain.runMain", () => {
  it.live("rejects new updates, waits for its handlers and exits with 0 after a signal", () =>
    Effect.gen(function* () {
      const { address, code, prints, signal, writeLine } = yield* start("bot")
      const at = yield* address
      assert.strictEqual((yield* post(at, { body: started(1) })).status, 200)
      yield* prints("handling")
      yield* signal("SIGTERM")
      let sent = 1
      const later = Effect.suspend(() => post(at, { body: started(++sent) }))
      yield* until(later, ({ status }) => status === 503)
      yield* writeLine
      const output = yield* prints("stopped")
      assert.match(output, /handling[\s\S]*handled[\s\S]*stopped/)
      assert.strictEqual(yield* code, 0)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["SIGINT", 130],
    ["SIGTERM", 143]
  ] as const)("exits at once after a second %s", ([signalled, expected]) =>
    Effect.gen(function* () {
      const { address, code, prints, signal } = yield* start("bot")
      const at = yield* address
      yield* post(at)
      yield* prints("handling")
      yield* signal(signalled)
      yield* until(post(at), ({ status }) => status === 503)
      yield* signal(signalled)
      assert.strictEqual(yield* code, expected)
      assert.notInclude(yield* prints(""), "handled")
    }).pipe(Effect.scoped)
  )

  it.live("exits with 0 when the program ends, and logs the error and exits with 1 when it fails", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* (yield* start("end")).code, 0)
      const { code, prints } = yield* start("fail")
      yield* prints("BOT_TOKEN is missing")
      assert.strictEqual(yield* code, 1)
    }).pipe(Effect.scoped)
  )

  it.live(
    "logs an error with a tag and a message in one line, and other errors and defects with their stack traces",
    () =>
      Effect.gen(function* () {
        const outputOf = Effect.fnUntraced(function* ([program, line]: readonly [string, string]) {
          const { code, prints } = yield* start(program)
          assert.strictEqual(yield* code, 1)
          return yield* prints(line)
        })
        const told = Effect.forEach(
          [
            ["fail", "InvalidSettings: Set these before the bot starts: BOT_TOKEN is missing."],
            ["config", "InvalidSettings: Set these before the bot starts: SETTING_WITHOUT_VALUE is missing."],
            ["store", 'StoreError: The inbox store failed in operation "migrate": refused.']
          ] as const,
          outputOf,
          { concurrency: "unbounded" }
        )
        for (const output of yield* told) assert.lengthOf(output.trim().split("\n"), 1, output)
        const traced = Effect.forEach(
          [
            ["untagged", "Error: without a tag"],
            ["silent", "OrdersMissing"],
            ["several", 'operation "enqueue"'],
            ["die", "Error: a mistake"]
          ] as const,
          outputOf,
          { concurrency: "unbounded" }
        )
        for (const output of yield* traced) assert.match(output, /bot\.ts:\d+/)
      }).pipe(Effect.scoped)
  )
})
