import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { commandError } from "./files.ts"

/** The program has ended with this code, and the command ends with the same. */
export class ProgramEnded extends Data.TaggedError("ProgramEnded")<{ readonly code: number }> {}

const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** The settings of a bot that connects to the emulator, with an inbox that is deleted when the program has ended. */
const settingsOf = Effect.fnUntraced(function* (url: string, token: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const port = yield* freePort
  return {
    BOT_TOKEN: token,
    BOT_BASE_URL: url,
    // The files that people send have addresses on the host of the emulator.
    BOT_PRIVATE_HOSTS: new URL(url).hostname,
    BOT_INBOX: path.join(yield* files.makeTempDirectoryScoped({ prefix: "colloquy-" }), "inbox.sqlite"),
    BOT_WEBHOOK_URL: `http://127.0.0.1:${port}/updates`,
    BOT_WEBHOOK_HOST: "127.0.0.1",
    BOT_WEBHOOK_PORT: `${port}`,
    BOT_WEBHOOK_INSECURE: "true",
    BOT_EMULATOR: "true"
  }
})

/** Where Node keeps compiled code, with which a bot starts in three quarters of the time after each change. */
const compileCache = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(tmpdir(), "node-compile-cache") }

/** Runs a program with the settings of a bot in its environment. Fails with `ProgramEnded` when the program ends. */
export const runProgram = ([program, ...args]: ReadonlyArray<string>, url: string, token: string) =>
  Effect.gen(function* () {
    const running = yield* ChildProcess.make(program!, args, {
      env: { ...compileCache, ...(yield* settingsOf(url, token)) },
      extendEnv: true,
      // The program is in the process group of the command, for input from the terminal and Ctrl-C.
      detached: false,
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit"
    })
    return yield* new ProgramEnded({ code: yield* running.exitCode })
  }).pipe(
    Effect.scoped,
    Effect.catchTag("PlatformError", (error) =>
      commandError(
        `cannot run ${program}: ${error.reason._tag === "NotFound" ? "there is no such program" : error.message}`
      )
    )
  )
