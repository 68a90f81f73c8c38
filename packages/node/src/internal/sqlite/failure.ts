import * as Result from "effect/Result"
import { classifySqliteError, ConnectionError, SqlError, SqlSyntaxError, UnknownError } from "effect/sql/SqlError"
import type { SqlErrorReason } from "effect/sql/SqlError"
import { statSync } from "node:fs"

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

/** A path that cannot be examined counts as none, because the error of SQLite says more. */
const isDirectory = (filename: string): boolean =>
  Result.getOrElse(
    Result.try(() => statSync(filename).isDirectory()),
    () => false
  )

const reasonOf = (filename: string, operation: string, cause: unknown): SqlErrorReason => {
  if (isNative(cause)) {
    if ((cause.errcode & 0xff) === 14 && isDirectory(filename)) {
      const message = `${cause.message}: ${filename} is a folder. Pass the path of a file in it.`
      // A connection error, and a result of SQLite as the cause, could be temporary.
      return new UnknownError({ cause: new Error(message, { cause }), message, operation })
    }
    const message = advice(filename, cause)
    return cause.errcode === 1 && operation === "prepare"
      ? new SqlSyntaxError({ cause, message, operation })
      : classifySqliteError(Object.assign(cause, { errno: errno(cause.errcode) }), { message, operation })
  }
  const message = cause instanceof Error ? cause.message : String(cause)
  if (operation === "open") {
    return new ConnectionError({ cause, message: `The folder of ${filename} cannot be created: ${message}`, operation })
  }
  return cause instanceof SyntaxError
    ? new SqlSyntaxError({ cause, message, operation })
    : new UnknownError({ cause, message, operation })
}

export const failure =
  (filename: string, operation: string) =>
  (cause: unknown): SqlError =>
    new SqlError({ reason: reasonOf(filename, operation, withCode(cause)) })
