import * as Effect from "effect/Effect"
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"
import { type CommandProblem, problem, reasonOf } from "./problem.ts"

export const readFile = (flag: string, path: string): Effect.Effect<string, CommandProblem> =>
  Effect.try({
    try: () => readFileSync(path, "utf8"),
    catch: (cause) => problem(`${flag} ${path}: ${reasonOf(cause)}`)
  })

/** Opens a file for lines, each of which is written at once: what was written stays, however the command ends. */
export const openLines = (flag: string, path: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.try({
        try: () => openSync(path, "w"),
        catch: (cause) => problem(`${flag} ${path}: ${reasonOf(cause)}`)
      }),
      (file) => Effect.sync(() => closeSync(file))
    ),
    (file) => (line: string) => Effect.sync(() => void writeSync(file, `${line}\n`))
  )
