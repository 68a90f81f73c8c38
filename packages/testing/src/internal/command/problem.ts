import * as Data from "effect/Data"

/** Why the command cannot do what it was told, in one line. */
export class CommandProblem extends Data.TaggedError("CommandProblem")<{ readonly message: string }> {}

export const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ").trim()

export const problem = (message: string) => new CommandProblem({ message: oneLine(message) })

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "it may not be opened",
  EISDIR: "it is a folder",
  ENOSPC: "there is no space left",
  EADDRINUSE: "it is in use",
  EADDRNOTAVAIL: "there is no such address here",
  ENOTFOUND: "there is no such host"
}

/** What an error of the system means. */
export const reasonOf = (cause: unknown): string => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
  return reasons[code] ?? (cause instanceof Error ? cause.message : String(cause))
}
