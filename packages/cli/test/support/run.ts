import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { CommandFailed } from "../../src/base/failure.ts"
import { main } from "../../src/command.ts"
import type { Place } from "../../src/base/settings.ts"

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs the command in this process, with its own environment and folder. `lines` and `errors` have what it prints while it runs. */
export const run = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string | undefined>>,
  cwd = "/",
  lines?: Array<string>,
  ask?: Place["ask"],
  columns?: Place["columns"],
  errors?: Array<string>
): Effect.Effect<Ran> =>
  Effect.suspend(() => {
    const out = lines ?? []
    const err = errors ?? []
    const captured: Console.Console = {
      ...globalThis.console,
      log: (...values: ReadonlyArray<unknown>) => void out.push(values.map(String).join(" ")),
      error: (...values: ReadonlyArray<unknown>) => void err.push(values.map(String).join(" "))
    }
    return main(args, { env, cwd, ask, columns }).pipe(
      Effect.provide(NodeServices.layer),
      Effect.provideService(Console.Console, captured),
      Effect.exit,
      Effect.map((exit) => {
        const error = Exit.findErrorOption(exit)
        const code = Exit.isSuccess(exit)
          ? 0
          : error._tag === "Some" && error.value instanceof CommandFailed
            ? error.value.code
            : -1
        return { code, out: out.join("\n"), err: err.join("\n") }
      })
    )
  })

/** A person in the terminal who gives this answer to all questions, and the questions. */
export const person = (answer: boolean) => {
  const questions: Array<string> = []
  const ask = (question: string) =>
    Effect.sync(() => {
      questions.push(question)
      return answer
    })
  return { ask, questions }
}

/** The objects that a command printed with `--json`. */
// oxlint-disable-next-line typescript/no-explicit-any
export const objects = ({ out }: Ran): ReadonlyArray<any> =>
  out === "" ? [] : out.split("\n").map((line) => JSON.parse(line) as unknown)
