import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { X509Certificate } from "node:crypto"
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"

/** Why the command failed, in one line. */
export class CommandError extends Data.TaggedError("CommandProblem")<{ readonly message: string }> {}

export const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ").trim()

export const commandError = (message: string) => new CommandError({ message: oneLine(message) })

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOSPC: "no space left on the device",
  EADDRINUSE: "the address is in use",
  EADDRNOTAVAIL: "the address is not available",
  ENOTFOUND: "unknown host"
}

/** Describes a system error. */
export const reasonOf = (cause: unknown): string => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
  return reasons[code] ?? (cause instanceof Error ? cause.message : String(cause))
}

const attempt = <A>(flag: string, path: string, run: () => A): Effect.Effect<A, CommandError> =>
  Effect.try({ try: run, catch: (cause) => commandError(`${flag} ${path}: ${reasonOf(cause)}`) })

export const readFile = (flag: string, path: string): Effect.Effect<string, CommandError> =>
  attempt(flag, path, () => readFileSync(path, "utf8").replace(/^\uFEFF/, ""))

/** Reads a PEM certificate. */
export const readCertificate = (flag: string, path: string): Effect.Effect<string, CommandError> =>
  Effect.flatMap(readFile(flag, path), (pem) =>
    Effect.try({
      try: () => (new X509Certificate(pem), pem),
      catch: () => commandError(`${flag} ${path}: is not a PEM certificate`)
    })
  )

/** Opens a file for lines. Each line is written immediately, so no line is lost if the command is killed. */
export const openLines = (flag: string, path: string) =>
  Effect.map(
    Effect.acquireRelease(
      attempt(flag, path, () => openSync(path, "w")),
      (file) => Effect.sync(() => closeSync(file))
    ),
    (file) => (line: string) => attempt(flag, path, () => void writeSync(file, `${line}\n`))
  )
