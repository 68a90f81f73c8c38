import * as Effect from "effect/Effect"
import { X509Certificate } from "node:crypto"
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"
import { type CommandProblem, problem, reasonOf } from "./problem.ts"

export const readFile = (flag: string, path: string): Effect.Effect<string, CommandProblem> =>
  Effect.try({
    try: () => readFileSync(path, "utf8").replace(/^\uFEFF/, ""),
    catch: (cause) => problem(`${flag} ${path}: ${reasonOf(cause)}`)
  })

/** Reads a certificate in PEM, as it stands in the file. */
export const readCertificate = (flag: string, path: string): Effect.Effect<string, CommandProblem> =>
  Effect.flatMap(readFile(flag, path), (pem) =>
    Effect.try({
      try: () => (new X509Certificate(pem), pem),
      catch: () => problem(`${flag} ${path}: is no certificate in PEM`)
    })
  )

/** Opens a file for lines, each of which is written at once: what was written stays, however the command ends. */
export const openLines = (flag: string, path: string) => {
  const orProblem = <A>(attempt: () => A) =>
    Effect.try({ try: attempt, catch: (cause) => problem(`${flag} ${path}: ${reasonOf(cause)}`) })
  return Effect.map(
    Effect.acquireRelease(
      orProblem(() => openSync(path, "w")),
      (file) => Effect.sync(() => closeSync(file))
    ),
    (file) => (line: string) => orProblem(() => void writeSync(file, `${line}\n`))
  )
}
