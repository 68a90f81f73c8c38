import { Bot, Inbox, Updates } from "@colloquy/core"
import { NodeInbox } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import * as ProcessLock from "../../src/inbox/internal/processLock.ts"
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

const openInbox = (filename: string) =>
  Effect.map(Layer.build(NodeInbox.layer({ filename, leaseDuration: "1 hour" })), Context.get(Inbox.Inbox))

/** Starts a bot in this process. The type of the first update that it handles completes the result. */
const startBot = (filename: string) =>
  Effect.gen(function* () {
    const first = yield* Deferred.make<string>()
    const inbox = yield* openInbox(filename)
    yield* Bot.run(({ update_type }) => Deferred.succeed(first, update_type)).pipe(
      Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never })),
      Effect.forkScoped
    )
    return first
  })

const locksIn = (filename: string) => readdirSync(dirname(filename)).filter((name) => name.includes(".lock"))

describe("processLock", () => {
  it.live(
    "releases the updates of a killed process to the first claim of the next process, and removes its lock file",
    () =>
      Effect.gen(function* () {
        const filename = yield* Files.file
        yield* kill(yield* startHolder(filename))
        assert.lengthOf(locksIn(filename), 1)
        const { store } = yield* openInbox(filename)
        const claim = { owner: "next", leaseDuration: 0, maxPartitions: 1, maxUpdates: 1, begin: 1 }
        assert.lengthOf(yield* store.claim(claim), 1)
        assert.lengthOf(locksIn(filename), 1)
      }).pipe(Effect.scoped)
  )

  it.effect(
    "releases the updates to a process that is already running, 5 seconds after the other process has ended",
    () =>
      Effect.gen(function* () {
        const filename = yield* Files.file
        const holder = yield* startHolder(filename)
        const handled = yield* startBot(filename)
        yield* TestClock.adjust("1 minute")
        assert.isFalse(Deferred.isDoneUnsafe(handled))
        yield* kill(holder)
        // Other processes are looked for at most every 500 milliseconds, in real time.
        yield* Effect.promise(() => setTimeout(501))
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(yield* Deferred.await(handled), "bot_started")
      }).pipe(Effect.scoped)
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
