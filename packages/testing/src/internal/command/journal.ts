import * as Json from "@colloquy/core/Json"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { isControl } from "../control/control.ts"
import { describe } from "../requestReader.ts"
import type { Body, Entrance, Request, Serve, Unreadable } from "../wire.ts"
import type { FollowingClock, SteppedClock } from "./clock.ts"
import { type CommandProblem, problem } from "./problem.ts"

/** The first line of a journal. */
const Header = Schema.Struct({
  journal: Schema.Literal(1),
  started_at: Schema.Int,
  tokens: Schema.Array(Schema.String)
})

export type Header = typeof Header.Type

/** A call and what it was answered. `n` counts the calls in the order in which they came into effect. */
const Entry = Schema.Struct({
  n: Schema.Int,
  at: Schema.Int,
  door: Schema.Literals(["api", "image", "video", "audio", "file"]),
  method: Schema.String,
  path: Schema.String,
  query: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.optionalKey(Schema.String),
  /** An uploaded file, base64. */
  bytes: Schema.optionalKey(Schema.String),
  status: Schema.NullOr(Schema.Int),
  answer: Schema.NullOr(Schema.String)
})

export type Entry = typeof Entry.Type

export interface Journal {
  readonly header: Header
  readonly entries: ReadonlyArray<Entry>
}

const readLine = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all" })
  return (line: string): Result.Result<A, string> => {
    const parsed = Result.try(() => Json.parse(line))
    if (Result.isFailure(parsed)) return Result.fail("is not JSON")
    return Result.mapError(decode(parsed.success), describe)
  }
}

const readHeader = readLine(Header)
const readEntry = readLine(Entry)

export const readJournal = (path: string, text: string): Effect.Effect<Journal, CommandProblem> =>
  Effect.gen(function* () {
    const [first, ...lines] = text.split("\n").filter((line) => line.trim() !== "")
    const line = <A>(number: number, read: Result.Result<A, string>) =>
      Result.isSuccess(read)
        ? Effect.succeed(read.success)
        : Effect.fail(problem(`--replay ${path}: line ${number}: ${read.failure}`))
    const header = yield* line(1, readHeader(first ?? ""))
    const entries = yield* Effect.forEach(lines, (each, index) => line(index + 2, readEntry(each)))
    return { header, entries: entries.toSorted((a, b) => a.n - b.n) }
  })

/** A file larger than this is not kept in a journal. */
const maxBytes = 2 ** 20

const ofText = (text: string): Body => ({
  text: Effect.succeed(text),
  bytes: Stream.succeed(new TextEncoder().encode(text))
})

const ofBytes = (bytes: Uint8Array): Body => ({
  text: Effect.sync(() => new TextDecoder().decode(bytes)),
  bytes: Stream.succeed(bytes)
})

const collect = (bytes: Body["bytes"]): Effect.Effect<Uint8Array, Unreadable> =>
  Effect.map(Stream.runCollect(bytes), (chunks) => {
    const all = new Uint8Array(chunks.reduce((size, { byteLength }) => size + byteLength, 0))
    chunks.reduce((at, chunk) => (all.set(chunk, at), at + chunk.byteLength), 0)
    return all
  })

const broken = (cause: Unreadable): Body => ({ text: Effect.fail(cause), bytes: Stream.fail(cause) })

type Kept = Pick<Entry, "body" | "bytes">

/** The request with its body in hand, so that nothing is waited for once it comes into effect. */
const inHand = ({ body, entrance, headers }: Request): Effect.Effect<readonly [Body, Kept]> => {
  if (entrance.at === "api") {
    return Effect.match(body.text, {
      onSuccess: (text) => [ofText(text), text === "" ? {} : { body: text }] as const,
      onFailure: (cause) => [broken(cause), {}] as const
    })
  }
  if (Number(headers["content-length"] ?? Infinity) > maxBytes) return Effect.succeed([body, {}])
  return Effect.match(collect(body.bytes), {
    onSuccess: (bytes) => [ofBytes(bytes), { bytes: Base64.encode(bytes) }] as const,
    onFailure: (cause) => [broken(cause), {}] as const
  })
}

const onlyLooks = (request: Request): boolean =>
  isControl(request) && (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS")

const given = (headers: Request["headers"]): Entry["headers"] =>
  Object.fromEntries(Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))

/** Answers requests and writes down each that can change something. */
export const recording = (
  handle: Serve,
  clock: FollowingClock | SteppedClock,
  tick: Effect.Effect<void>,
  write: (line: string) => Effect.Effect<void>
): Serve => {
  let count = 0
  return (request) =>
    onlyLooks(request)
      ? Effect.andThen(tick, handle(request))
      : Effect.gen(function* () {
          const [body, kept] = yield* inHand(request)
          yield* tick
          const { entrance, headers, method, path, query } = request
          const head = { n: count++, at: clock.currentTimeMillisUnsafe(), door: entrance.at, method, path, query }
          const exit = yield* Effect.exit(handle({ ...request, body }))
          const answer = Exit.isSuccess(exit) ? exit.value : undefined
          const entry: Entry = {
            ...head,
            headers: given(headers),
            ...kept,
            status: answer?.status ?? null,
            answer: answer?.body ?? null
          }
          yield* write(Json.stringify(entry))
          return yield* exit
        })
}

export const headerLine = (header: Omit<Header, "journal">): string => Json.stringify({ journal: 1, ...header })

/** Polls are left out: who connects after a playback gets all the updates from the first one on. */
const isPlayed = ({ door, method, path }: Entry): boolean =>
  !(door === "api" && method === "GET" && path === "/updates")

/** Makes the calls of a journal again, each at its time; tells how many were answered with another status. */
export const playBack = (
  { entries }: Journal,
  handle: Serve,
  clock: SteppedClock,
  uploads: Entrance["uploads"]
): Effect.Effect<number> =>
  Effect.gen(function* () {
    let different = 0
    for (const entry of entries.filter(isPlayed)) {
      const { at, body, bytes, door, headers, method, path, query, status } = entry
      yield* clock.moveTo(at)
      const file = bytes === undefined ? undefined : Result.getOrUndefined(Base64.decode(bytes))
      const request: Request = {
        method,
        path,
        query,
        headers,
        body: file === undefined ? ofText(body ?? "") : ofBytes(file),
        entrance: { at: door, uploads }
      }
      const exit = yield* Effect.exit(handle(request))
      if ((Exit.isSuccess(exit) ? exit.value.status : null) !== status) different++
    }
    return different
  })
