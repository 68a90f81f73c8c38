import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { classifySqliteError, ConnectionError, SqlError, SqlSyntaxError, UnknownError } from "effect/sql/SqlError"
import type { SqlErrorReason } from "effect/sql/SqlError"
import { accessSync, constants, existsSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { inMemory } from "./database.ts"

interface Native extends Error {
  readonly errcode: number
}

const isNative = (cause: unknown): cause is Native =>
  cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number"

const codesByMessage = {
  "database is locked": 5,
  "attempt to write a readonly database": 8,
  "database disk image is malformed": 11,
  "database or disk is full": 13,
  "unable to open database file": 14,
  "file is not a database": 26
}

/** Adds the code to an error of Deno, which has none if a file cannot be opened or a statement cannot be prepared. */
const withCode = (cause: unknown): unknown => {
  if (!(cause instanceof Error) || isNative(cause) || !("code" in cause) || cause.code !== "ERR_SQLITE_ERROR") {
    return cause
  }
  const [, errcode] = Object.entries(codesByMessage).find(([text]) => cause.message.startsWith(text)) ?? ["", 1]
  return Object.assign(cause, { errcode })
}

const primaryKey = 1555
const rowId = 2579
const unique = 2067

const errno = (code: number) => (code === primaryKey || code === rowId ? unique : code)

const busyAfterRead = 517

/** Whether another connection holds the lock. A transaction whose snapshot is outdated would wait forever. */
export const isBusy = (error: SqlError): boolean => {
  const cause = error.reason.cause
  return isNative(cause) && (cause.errcode & 0xff) === 5 && cause.errcode !== busyAfterRead
}

const advice = (filename: string, cause: Native): string => {
  switch (cause.errcode & 0xff) {
    case 5:
      return `${cause.message}: another connection locked ${filename} for longer than busyTimeout. Shorten the transactions, or increase busyTimeout.`
    case 8:
      return `${cause.message}: ${filename} is read-only. Give the process write access to the file and its folder.`
    case 13:
      return `${cause.message}: no disk space is left for ${filename}.`
    case 14:
      return `${cause.message}: ${filename}. Check that the path is a file in a folder to which the process can write.`
    case 11:
    case 26:
      return `${cause.message}: ${filename} is corrupt, or not a SQLite file. Restore it from a backup.`
    default:
      return cause.message
  }
}

/** Temporary errors of a file system: no space or no file descriptors, and busy devices. */
const passing = new Set(["EAGAIN", "EBUSY", "EDQUOT", "EIO", "EMFILE", "ENFILE", "ENOSPC", "ETIMEDOUT"])

const passes = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" && passing.has(cause.code)

/** The problem of the folder of a file: not a folder, or not writable. */
const folderProblem = (filename: string): string | undefined => {
  let folder = dirname(resolve(filename))
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  const access = Result.try(() => accessSync(folder, constants.W_OK | constants.X_OK))
  if (!isDirectory(folder)) return `${folder} is no folder`
  return Result.isSuccess(access) ? undefined : `the process may not write to the folder ${folder}`
}

/** An error that another attempt would not change. */
const permanent = (cause: unknown, message: string, operation: string): SqlErrorReason =>
  // A connection error, and a result of SQLite as the cause, could be temporary.
  new UnknownError({ cause: new Error(message, { cause }), message, operation })

/** A path that cannot be examined counts as none, because the error of SQLite says more. */
const isDirectory = (filename: string): boolean =>
  Result.getOrElse(
    Result.try(() => statSync(filename).isDirectory()),
    () => false
  )

const cannotBeCreated = (filename: string, problem: string): string =>
  `The file ${filename} cannot be created: ${problem}. Set another path, or give the process the right to write there.`

const reasonOf = (filename: string, operation: string, cause: unknown): SqlErrorReason => {
  if (isNative(cause)) {
    if ((cause.errcode & 0xff) === 14) {
      if (isDirectory(filename))
        return permanent(cause, `${cause.message}: ${filename} is a folder. Pass the path of a file in it.`, operation)
      const problem = folderProblem(filename)
      if (problem !== undefined) return permanent(cause, cannotBeCreated(filename, problem), operation)
    }
    const message = advice(filename, cause)
    return cause.errcode === 1 && operation === "prepare"
      ? new SqlSyntaxError({ cause, message, operation })
      : classifySqliteError(Object.assign(cause, { errno: errno(cause.errcode) }), { message, operation })
  }
  const message = cause instanceof Error ? cause.message : String(cause)
  if (operation === "open") {
    const told = cannotBeCreated(filename, message)
    return passes(cause) ? new ConnectionError({ cause, message: told, operation }) : permanent(cause, told, operation)
  }
  return cause instanceof SyntaxError
    ? new SqlSyntaxError({ cause, message, operation })
    : new UnknownError({ cause, message, operation })
}

export const failure =
  (filename: string, operation: string) =>
  (cause: unknown): SqlError =>
    new SqlError({ reason: reasonOf(filename, operation, withCode(cause)) })

/** Fails if a file of this path can never be created. Creates nothing. */
export const checkPath = (filename: string): Effect.Effect<void, SqlError> =>
  Effect.suspend(() => {
    const problem = inMemory(filename) ? undefined : folderProblem(filename)
    if (problem === undefined) return Effect.void
    return Effect.fail(new SqlError({ reason: permanent(undefined, cannotBeCreated(filename, problem), "open") }))
  })
