import { Inbox, Updates } from "@colloquy/core"
import { NodeInbox } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import * as ProcessLock from "../../src/internal/updates/processLock.ts"
import * as Files from "../support/files.ts"

const program = fileURLToPath(new URL("../support/inboxHolder.ts", import.meta.url))

const kill = (child: ChildProcess) =>
  Effect.promise(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, "close")
    child.kill("SIGKILL")
    await closed
  })

/** Starts a process that handles an update of the inbox without end, and waits until it does. */
const startHolder = (filename: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn(process.execPath, ["--conditions=source", "--no-warnings", program, filename], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      await once(child.stdout, "data")
      return child
    }),
    kill
  )

/** Starts a bot in this process. Returns the first update that it handles. */
const startBot = (filename: string) =>
  Effect.gen(function* () {
    const first = yield* Deferred.make<string>()
    const { inbox } = yield* Layer.build(NodeInbox.layer({ filename, leaseDuration: "1 hour" })).pipe(
      Effect.flatMap((context) =>
        Effect.provideContext(
          Effect.map(Inbox.Inbox, (inbox) => ({ inbox })),
          context
        )
      )
    )
    yield* Updates.run(({ update_type }) => Deferred.succeed(first, update_type)).pipe(
      Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never })),
      Effect.forkScoped
    )
    return { handled: Deferred.await(first) }
  })

const locksIn = (filename: string) => readdirSync(dirname(filename)).filter((name) => name.includes(".lock"))

describe("processLock", () => {
  it.live(
    "releases the updates of a killed process to the next process at once, and removes its lock file",
    () =>
      Effect.gen(function* () {
        const filename = yield* Files.file
        yield* kill(yield* startHolder(filename))
        assert.lengthOf(locksIn(filename), 1)
        const start = performance.now()
        const { handled } = yield* startBot(filename)
        assert.strictEqual(yield* handled, "bot_started")
        assert.isBelow(performance.now() - start, 2000)
        assert.lengthOf(locksIn(filename), 1)
      }).pipe(Effect.scoped),
    20_000
  )

  it.live(
    "releases the updates to a process that is already running, after the other process has ended",
    () =>
      Effect.gen(function* () {
        const filename = yield* Files.file
        const holder = yield* startHolder(filename)
        const { handled } = yield* startBot(filename)
        assert.isTrue(Option.isNone(yield* Effect.timeoutOption(handled, "2 seconds")))
        yield* kill(holder)
        const start = performance.now()
        assert.strictEqual(yield* handled, "bot_started")
        assert.isBelow(performance.now() - start, 5000)
      }).pipe(Effect.scoped),
    20_000
  )

  it.live("removes the lock file of a process that stops", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* startBot(filename)
          assert.lengthOf(locksIn(filename), 1)
        })
      )
      assert.deepStrictEqual(locksIn(filename), [])
    }).pipe(Effect.scoped)
  )

  it.live("finds the locks of the same table that no process holds, until they are removed", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      const find = () => {
        const lock = ProcessLock.make(filename, "a_inbox")
        const gone = lock?.findGone() ?? []
        lock?.close()
        return gone
      }
      const lock = ProcessLock.make(filename, "a_inbox")
      assert.deepStrictEqual(find(), [])
      lock?.close()
      writeFileSync(`${filename}-a_inbox-0123456789abcdef.lock`, "")
      writeFileSync(`${filename}-b_inbox-0123456789abcdef.lock`, "")
      for (const { id, keep } of find()) {
        assert.strictEqual(id, "0123456789abcdef")
        keep()
      }
      const again = find()
      assert.lengthOf(again, 1)
      again[0].remove()
      assert.deepStrictEqual(find(), [])
      assert.lengthOf(locksIn(filename), 1)
    }).pipe(Effect.scoped)
  )

  it("creates no lock in a folder that does not exist", () => {
    assert.isUndefined(ProcessLock.make("/does/not/exist/bot.sqlite", "a_inbox"))
  })
})
