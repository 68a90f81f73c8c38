import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { temporaryFolder } from "../support/databases.ts"

const program = fileURLToPath(new URL("../support/broadcaster.ts", import.meta.url))

/** Runs the broadcast in a process, which is killed after a number of outcomes. Returns the signal or the exit code. */
const sending = (args: ReadonlyArray<string>, killAfter: number) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, ["--conditions=source", program, ...args], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    let outcomes = 0
    child.stdout.on("data", (dots: Buffer) => {
      outcomes += dots.length
      if (outcomes >= killAfter) child.kill("SIGKILL")
    })
    const [code, signal] = (await once(child, "close")) as [number | null, string | null]
    return signal ?? code
  })

const platform = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token: "token" })))

const kills = 4

describe("a broadcast in SQLite whose process is killed", () => {
  it.live("reaches every recipient once, where the bot may read", () =>
    Effect.gen(function* () {
      const filename = join(yield* temporaryFolder, "bot.sqlite")
      const { url } = yield* EmulatorServer.EmulatorServer
      const chats = yield* Effect.forEach(Array.from({ length: 400 }), (_, index) =>
        Effect.gen(function* () {
          const person = yield* Emulator.user(`Ann ${index}`)
          yield* person.start()
          return (yield* person.dialog).chat_id
        })
      )
      yield* Emulator.setFaults([{ endpoint: "Messages.send", delay: 30 }])
      const args = [filename, url, JSON.stringify(chats)]
      for (let kill = 0; kill < kills; kill++) {
        assert.strictEqual(yield* sending(args, yield* Random.nextIntBetween(1, 80)), "SIGKILL")
      }
      assert.strictEqual(yield* sending(args, Infinity), 0)
      const counts = yield* Effect.forEach(chats, (chat_id) =>
        Effect.map(Emulator.messages(chat_id), ({ length }) => length)
      )
      assert.deepStrictEqual(
        counts,
        chats.map(() => 1)
      )
    }).pipe(Effect.provide(platform))
  )
})
