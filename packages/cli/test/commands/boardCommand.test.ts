import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { run } from "../support/run.ts"

describe("colloquy board", () => {
  it.live.each(["0.0.0.0", "::", "192.168.1.7", "bot.example", "localhost.example", "127.0.0.1.example"])(
    "refuses the address %s, which other machines can reach, before settings are read",
    (host) =>
      Effect.gen(function* () {
        const { code, err, out } = yield* run(["board", "--host", host], {})
        assert.deepStrictEqual([code, out], [2, ""])
        assert.include(err, `--host ${host}: other machines could reach the board`)
      })
  )

  it.live.each([
    ["--host", "127.0.0.1"],
    ["--host", "::1"],
    ["--host", "localhost"],
    ["--host", "0.0.0.0", "--public"]
  ])("accepts the address %s %s", (flags) =>
    Effect.gen(function* () {
      const { code, err } = yield* run(["board", ...flags], {}, "/nowhere")
      assert.strictEqual(code, 1)
      assert.include(err, "There is no SQLite file")
    })
  )

  it.live("checks the port before settings are read", () =>
    Effect.gen(function* () {
      const { code, err } = yield* run(["board", "--port", "65536"], {}, "/nowhere")
      assert.deepStrictEqual(
        [code, err],
        [2, 'colloquy: Invalid value for flag --port: "65536". Expected: a port, 0 to 65535']
      )
    })
  )
})
