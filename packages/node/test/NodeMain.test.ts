import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { post, started, until } from "./support/webhooks.ts"

const script = fileURLToPath(new URL("fixtures/bot.ts", import.meta.url))

/** The program in a process of its own. */
const start = (program: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, ["--conditions=source", script, program])
      let said = ""
      const hear = (chunk: Buffer) => {
        said += chunk.toString()
      }
      child.stdout.on("data", hear)
      child.stderr.on("data", hear)
      const ended = once(child, "close") as Promise<[code: number | null]>
      const says = (text: string | RegExp) =>
        until(
          Effect.sync(() => said),
          (said) => said.search(text) >= 0
        )
      return {
        says,
        tell: Effect.sync(() => child.stdin.write("go\n")),
        signal: (signal: NodeJS.Signals) => Effect.sync(() => child.kill(signal)),
        code: Effect.map(
          Effect.promise(() => ended),
          ([code]) => code
        ),
        address: Effect.map(says(/port \d+\n/), (said) => `http://127.0.0.1:${/port (\d+)/.exec(said)?.[1]}/updates`),
        child
      }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

const timeout = 60_000

describe("NodeMain.runMain", () => {
  it.live(
    "rejects new updates, waits for its handlers and exits with 0 after a signal",
    () =>
      Effect.gen(function* () {
        const { address, code, says, signal, tell } = yield* start("bot")
        const at = yield* address
        assert.strictEqual((yield* post(at, { body: started(1) })).status, 200)
        yield* says("handling")
        yield* signal("SIGTERM")
        let sent = 1
        const later = Effect.suspend(() => post(at, { body: started(++sent) }))
        yield* until(later, ({ status }) => status === 503)
        yield* tell
        const said = yield* says("stopped")
        assert.match(said, /handling[\s\S]*handled[\s\S]*stopped/)
        assert.strictEqual(yield* code, 0)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live.each([
    ["SIGINT", 130],
    ["SIGTERM", 143]
  ] as const)(
    "exits at once after a second %s",
    ([signalled, expected]) =>
      Effect.gen(function* () {
        const { address, code, says, signal } = yield* start("bot")
        const at = yield* address
        yield* post(at)
        yield* says("handling")
        yield* signal(signalled)
        yield* until(post(at), ({ status }) => status === 503)
        yield* signal(signalled)
        assert.strictEqual(yield* code, expected)
        assert.notInclude(yield* says(""), "handled")
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "exits with 0 when the program ends, and logs the error and exits with 1 when it fails",
    () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* (yield* start("end")).code, 0)
        const { code, says } = yield* start("fail")
        yield* says("BOT_TOKEN is missing")
        assert.strictEqual(yield* code, 1)
      }).pipe(Effect.scoped),
    timeout
  )
})
