import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisInboxStore } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as databases from "../support/databases.ts"
import { start } from "../support/programs.ts"
import { post, started, until } from "../support/webhooks.ts"
import { writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import * as Files from "../support/files.ts"

const isRedisMissing = await databases.isMissing("Redis", 6379)

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

  it.live.skipIf(isRedisMissing)(
    "stores updates for other processes after a signal until its server closes, and loses none",
    () => {
      const prefix = databases.uniqueName()
      return Effect.gen(function* () {
        const { updates } = yield* InboxStore.InboxStore
        const env = { BOT_PREFIX: prefix, REDIS_URL: databases.redisUrl }
        const { address, code, prints, signal, writeLine } = yield* start("shared", undefined, env)
        const at = yield* address
        const accepted: Array<string> = []
        const deliver = Effect.gen(function* () {
          const body = started(accepted.length + 1)
          assert.strictEqual((yield* post(at, { body })).status, 200)
          accepted.push(body)
        })
        yield* deliver
        yield* prints("handling")
        yield* signal("SIGTERM")
        const ready = post(at.replace("/updates", "/health/ready"), { method: "GET", body: null })
        yield* until(ready, ({ status }) => status === 503)
        yield* Effect.repeat(deliver, { times: 20 })
        const delivering = yield* Effect.forkChild(Effect.exit(Effect.forever(deliver)))
        yield* writeLine
        yield* prints("stopped")
        // The requests are refused as soon as the server is closed.
        const exit = yield* Fiber.join(delivering)
        assert.match(String(Exit.isFailure(exit) && Cause.squash(exit.cause)), /^TypeError: (fetch failed|ECONN)/)
        assert.strictEqual(yield* code, 0)
        const left = (yield* updates({ of: "queue", limit: 100_000 })).map(({ update }) => update.text)
        assert.deepStrictEqual(left.slice(0, accepted.length - 1), accepted.slice(1))
        assert.isAbove(left.length, 20)
      }).pipe(
        Effect.scoped,
        Effect.provide(RedisInboxStore.layer({ prefix }).pipe(Layer.provide(databases.redisPrefix(`{${prefix}:`))))
      )
    }
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
            ["die", "Error: a defect"]
          ] as const,
          outputOf,
          { concurrency: "unbounded" }
        )
        for (const output of yield* traced) assert.match(output, /bot\.ts:\d+/)
      }).pipe(Effect.scoped)
  )

  const token = { BOT_TOKEN: "token", BOT_GIVE_UP_AFTER: "3 seconds" }

  /** The address of a port at which nothing listens. */
  const closedPort = Effect.map(
    Effect.promise(
      () =>
        new Promise<number>((resolve) => {
          const server = createServer().listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            server.close(() => resolve(port))
          })
        })
    ),
    (port) => `127.0.0.1:${port}`
  )

  const linesOf = Effect.fnUntraced(function* (program: string, env: Readonly<Record<string, string>>) {
    const { code, prints } = yield* start(program, undefined, env)
    assert.strictEqual(yield* code, 1)
    return (yield* prints("")).trimEnd().split("\n")
  })

  /** Three short lines for the attempts at least, the first with the cause, and the error with what to do. */
  const assertGaveUp = (lines: ReadonlyArray<string>, what: string): void => {
    assert.isAbove(lines.length, 4, lines.join("\n"))
    const [first, ...others] = lines
    assert.match(
      first!,
      new RegExp(
        `${what} is unavailable\\. Attempt 1 failed, and the next one follows in 0\\.2 seconds\\..*ECONNREFUSED`
      )
    )
    for (const [index, line] of others.slice(0, -1).entries()) {
      assert.match(
        line,
        new RegExp(
          `${what} is still unavailable\\. Attempt ${index + 2} failed, and the next one follows in [\\d.]+ seconds\\.$`
        )
      )
    }
    assert.match(
      lines.at(-1)!,
      new RegExp(
        `GaveUp: ${what} was unavailable for 3s.*, so the bot ends\\. .*start the bot again.*BOT_GIVE_UP_AFTER.*ECONNREFUSED`
      )
    )
  }

  it.live("exits with 1 when the platform stays away, and tells each attempt in one line", () =>
    Effect.gen(function* () {
      const at = yield* closedPort
      const folder = yield* Files.folder
      const env = { ...token, BOT_BASE_URL: `http://${at}`, BOT_INBOX: join(folder, "bot.sqlite") }
      assertGaveUp(yield* linesOf("polling", env), "The platform")
    }).pipe(Effect.scoped)
  )

  it.live("exits with 1 when PostgreSQL stays away at the start, and tells each attempt in one line", () =>
    Effect.gen(function* () {
      const env = { ...token, DATABASE_URL: `postgres://bot@${yield* closedPort}/bot` }
      assertGaveUp(yield* linesOf("postgres", env), "PostgreSQL")
    }).pipe(Effect.scoped)
  )

  it.live("exits with 1 at once when the file of the inbox cannot be created, and says what to do", () =>
    Effect.gen(function* () {
      const folder = yield* Files.folder
      writeFileSync(join(folder, "file"), "")
      const filename = join(folder, "file", "bot.sqlite")
      const env = { ...token, BOT_BASE_URL: `http://${yield* closedPort}`, BOT_INBOX: filename }
      const lines = yield* linesOf("polling", env)
      assert.lengthOf(lines, 1, lines.join("\n"))
      assert.match(
        lines[0]!,
        /StoreError: .*The file .*bot\.sqlite cannot be created: .*file is no folder\. Set another path, or give/
      )
    }).pipe(Effect.scoped)
  )
})
