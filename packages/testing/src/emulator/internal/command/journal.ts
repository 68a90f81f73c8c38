import * as Json from "@colloquy/core/base/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe } from "../http/requestReader.ts"
import { commandError, readFile } from "./files.ts"

/** The first line of a journal. */
const Header = Schema.Struct({
  journal: Schema.Literal(1),
  started_at: Schema.Int,
  tokens: Schema.Array(Schema.String)
})

type Header = typeof Header.Type

/** A request and its response. `n` is the position of the request in the order of execution. */
const Entry = Schema.Struct({
  n: Schema.Int,
  at: Schema.Int,
  /** Milliseconds until the response, or until the caller gave up. */
  took: Schema.Int,
  listener: Schema.Literals(["api", "image", "video", "audio", "file"]),
  method: Schema.String,
  path: Schema.String,
  query: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.optionalKey(Schema.String),
  /** An uploaded file, encoded as base64. */
  bytes: Schema.optionalKey(Schema.String),
  status: Schema.NullOr(Schema.Int),
  answer: Schema.NullOr(Schema.String)
})

export type Entry = typeof Entry.Type

const readLine = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  return (line: string): Result.Result<A, string> => {
    const parsed = Result.try(() => Json.parse(line))
    return Result.isFailure(parsed) ? Result.fail("is not JSON") : Result.mapError(decode(parsed.success), describe)
  }
}

const readHeader = readLine(Header)
const readEntry = readLine(Entry)

export const readJournal = Effect.fnUntraced(function* (path: string) {
  const text = yield* readFile("--replay", path)
  const at = <A>(number: number, read: Result.Result<A, string>) =>
    Effect.mapError(Effect.fromResult(read), (reason) => commandError(`--replay ${path}: line ${number}: ${reason}`))
  const [first = "", ...rest] = text.split("\n")
  const header = yield* at(1, readHeader(first))
  const lines = rest.map((line, index) => ({ line, number: index + 2 })).filter(({ line }) => line.trim() !== "")
  const entries = yield* Effect.forEach(lines, ({ line, number }) => at(number, readEntry(line)))
  return { header, entries: entries.toSorted((a, b) => a.n - b.n) }
})

export type Journal = Effect.Success<ReturnType<typeof readJournal>>

export const headerLine = (header: Omit<Header, "journal">): string => Json.stringify({ journal: 1, ...header })

export const entryLine = (entry: Entry): string => Json.stringify(entry)
