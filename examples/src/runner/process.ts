/** Runs an example as a child process, and prints its output line by line. */
import { Console, Data, Deferred, Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { line } from "../start/transcript.ts"

/** The example exited with another code than 0, or by a signal. */
export class ExampleFailed extends Data.TaggedError("ExampleFailed")<{
  readonly name: string
  readonly exit: string
}> {
  override get message() {
    return `examples/src/${this.name}.ts exited with ${this.exit} instead of 0`
  }
}

/** A running example. Both effects fail if it does not exit with 0. */
export interface Example {
  /** Waits until the example exits. */
  readonly exited: Effect.Effect<void, ExampleFailed>
  /** Sends SIGTERM, and waits until the example exits. */
  readonly stop: Effect.Effect<void, ExampleFailed>
  /** Sends SIGKILL, and waits until the example exits. */
  readonly kill: Effect.Effect<void>
}

const withoutTime = (logLine: string) => logLine.replace(/^\[\d\d:\d\d:\d\d\.\d+\] /, "")

const print = (stream: Readable) =>
  createInterface({ input: stream }).on("line", (text) => console.log(line("program", withoutTime(text))))

/** Starts an example. Its environment is the settings and `PATH`. */
export const start = (
  name: string,
  settings: Readonly<Record<string, string>>
): Effect.Effect<Example, never, Scope.Scope> =>
  Effect.gen(function* () {
    const exit = yield* Deferred.make<void, ExampleFailed>()
    const path = fileURLToPath(new URL(`../${name}.ts`, import.meta.url))
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, ["--conditions=source", path], {
          env: { PATH: process.env["PATH"], ...settings },
          stdio: ["ignore", "pipe", "pipe"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    print(child.stdout)
    print(child.stderr)
    child.on("close", (code, signal) => {
      const result = code === 0 ? Effect.void : Effect.fail(new ExampleFailed({ name, exit: String(signal ?? code) }))
      Deferred.doneUnsafe(exit, result)
    })
    return {
      exited: Deferred.await(exit),
      kill: Console.log(line("you", "(kill the program)")).pipe(
        Effect.andThen(Effect.sync(() => child.kill("SIGKILL"))),
        Effect.andThen(Effect.exit(Deferred.await(exit))),
        Effect.asVoid
      ),
      stop: Console.log(line("you", "(stop the program)")).pipe(
        Effect.andThen(Effect.sync(() => child.kill("SIGTERM"))),
        Effect.andThen(Deferred.await(exit))
      )
    }
  })
