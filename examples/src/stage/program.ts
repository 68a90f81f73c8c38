/** An example as a process of its own, whose lines are printed as they come. */
import { Console, Data, Deferred, Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { line } from "../start/dialogue.ts"

/** The program did not end as it should. */
export class BadEnd extends Data.TaggedError("BadEnd")<{ readonly name: string; readonly how: string }> {
  override get message() {
    return `examples/src/${this.name}.ts ended with ${this.how} instead of 0`
  }
}

/** A program that runs: `ended` waits until it ends by itself, `stop` asks it to. Both expect it to exit with 0. */
export interface Program {
  readonly ended: Effect.Effect<void, BadEnd>
  readonly stop: Effect.Effect<void, BadEnd>
}

/** What a log says without its time. */
const withoutTime = (text: string) => text.replace(/^\[\d\d:\d\d:\d\d\.\d+\] /, "")

const print = (stream: Readable) =>
  createInterface({ input: stream }).on("line", (text) => console.log(line("program", withoutTime(text))))

/** Starts an example with these settings, and with nothing else of the environment than where programs are. */
export const start = (
  name: string,
  settings: Readonly<Record<string, string>>
): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.gen(function* () {
    const end = yield* Deferred.make<void, BadEnd>()
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
      const how = code === 0 ? Effect.void : Effect.fail(new BadEnd({ name, how: String(signal ?? code) }))
      Deferred.doneUnsafe(end, how)
    })
    return {
      ended: Deferred.await(end),
      stop: Console.log(line("you", "(stop the program)")).pipe(
        Effect.andThen(Effect.sync(() => child.kill("SIGTERM"))),
        Effect.andThen(Deferred.await(end))
      )
    }
  })
