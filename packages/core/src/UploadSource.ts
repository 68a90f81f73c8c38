/**
 * What can be uploaded: bytes, a web `Blob`, a stream of bytes, what stands at another address. `NodeUploads.fromPath`
 * of `@colloquy/node` adds files. Nothing is read before the upload, and never more at once than a small piece.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { digest, digestEnds } from "./internal/upload/digest.ts"

const TypeId = "~colloquy/UploadSource"

/**
 * How a source can be read:
 *
 * - `anywhere`: any range of it, as often as needed. Its upload goes on where it broke, also in a new process.
 * - `again`: from its beginning only. Its upload begins anew when it breaks.
 * - `once`: its upload fails when it breaks.
 *
 * @category models
 * @since 0.1.0
 */
export type Access = "randomAccess" | "replayable" | "once"

/**
 * A source that is open. `read` gives the bytes from `from` up to `to`, which is not included; of a source that is not
 * read `anywhere` it gives all there are. `identity` is the same for as long as the content is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Opened {
  readonly size: number | undefined
  readonly read: (from: number, to: number) => Stream.Stream<Uint8Array, unknown>
  readonly identity: Effect.Effect<string, unknown>
}

/**
 * Where the bytes of an upload come from.
 *
 * @category models
 * @since 0.1.0
 */
export interface UploadSource<out Reading extends Access = Access> {
  readonly [TypeId]: typeof TypeId
  /** What the file is called, where the source knows. */
  readonly name: string | undefined
  readonly access: Reading
  readonly open: Effect.Effect<Opened, unknown, HttpClient.HttpClient | Scope.Scope>
}

/**
 * A source of any kind. What `open` acquires is released when the upload ends; a failure of it or of the bytes ends the
 * upload with the reason `SourceFailed`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Reading extends Access>(
  options: Omit<UploadSource<Reading>, typeof TypeId>
): UploadSource<Reading> => ({ [TypeId]: TypeId, ...options })

const pieceSize = 2 ** 18

const cut = function* (from: number, to: number): Generator<readonly [number, number]> {
  for (let at = from; at < to; at += pieceSize) yield [at, Math.min(at + pieceSize, to)]
}

/** The small ranges that a range consists of. */
const rangesOf = (from: number, to: number) =>
  Stream.suspend(() => Stream.fromIterable(cut(from, to), { chunkSize: 1 }))

/**
 * Bytes in memory.
 *
 * **Example**
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 *
 * const report = new TextEncoder().encode("total,42")
 * const attachment = Uploads.upload({ type: "file", source: UploadSource.bytes(report), name: "report.csv" })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const bytes = (content: Uint8Array): UploadSource<"randomAccess"> =>
  make({
    name: undefined,
    access: "randomAccess",
    open: Effect.succeed({
      size: content.byteLength,
      read: (from, to) =>
        rangesOf(from, Math.min(to, content.byteLength)).pipe(Stream.map(([from, to]) => content.subarray(from, to))),
      identity: digest(content)
    })
  })

/**
 * What an upload needs of a web `Blob`.
 *
 * @category models
 * @since 0.1.0
 */
export interface BlobLike {
  readonly size: number
  readonly name?: string
  readonly lastModified?: number
  readonly slice: (from: number, to: number) => { readonly arrayBuffer: () => Promise<ArrayBuffer> }
}

/**
 * A web `Blob`, or a `File` with its name.
 *
 * @category constructors
 * @since 0.1.0
 */
export const blob = (content: BlobLike): UploadSource<"randomAccess"> => {
  const read = (from: number, to: number) =>
    rangesOf(from, Math.min(to, content.size)).pipe(
      Stream.mapEffect(([from, to]) => Effect.tryPromise(() => content.slice(from, to).arrayBuffer())),
      Stream.map((buffer) => new Uint8Array(buffer))
    )
  return make({
    name: content.name,
    access: "randomAccess",
    open: Effect.succeed({
      size: content.size,
      read,
      identity: Effect.map(
        digestEnds({ read }, content.size),
        (ends) => `${content.size} ${content.lastModified ?? ""} ${ends}`
      )
    })
  })
}

/**
 * A stream of bytes, which is run once: an upload of it that breaks cannot go on. With `size` the platform is told how
 * much comes, and the limit is checked before a byte is sent; without, as the bytes go by.
 *
 * **Example**
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 * import { Stream } from "effect"
 *
 * const lines = Stream.make("name,total", "\nAnn,42").pipe(Stream.encodeText)
 * const attachment = Uploads.upload({ type: "file", source: UploadSource.stream(lines), name: "totals.csv" })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const stream = <E>(
  content: Stream.Stream<Uint8Array, E>,
  options: { readonly size?: number | undefined } = {}
): UploadSource<"once"> =>
  make({
    name: undefined,
    access: "once",
    open: Effect.succeed({ size: options.size, read: () => content, identity: Effect.succeed("") })
  })

/**
 * What stands at an address did not come.
 *
 * @category errors
 * @since 0.1.0
 */
export class DownloadFailed extends Data.TaggedError("Unavailable")<{ readonly url: string; readonly status: number }> {
  override get message() {
    return `${this.url} was answered with ${this.status}`
  }
}

const nameIn = (url: string): string | undefined => {
  const [, segment] = /^[a-z]+:\/\/[^/?#]+(?:\/[^/?#]*)*\/([^/?#]+)(?:[?#]|$)/i.exec(url) ?? []
  return segment === undefined
    ? undefined
    : Result.getOrElse(
        Result.try(() => decodeURIComponent(segment)),
        () => segment
      )
}

const lengthOf = (headers: Readonly<Record<string, string | undefined>>): number | undefined => {
  const length = headers["content-length"]
  return length !== undefined && /^\d+$/.test(length) && headers["content-encoding"] === undefined
    ? Number(length)
    : undefined
}

/**
 * What stands at another address: it is fetched by the `HttpClient` of the program while it is uploaded, redirects
 * included, and fetched again where the upload breaks. It is called like the last part of its address unless told.
 *
 * A picture need not be uploaded for this: `AttachmentRequest.imageFromUrl` lets the platform fetch it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const url = (address: string): UploadSource<"replayable"> =>
  make({
    name: nameIn(address),
    access: "replayable",
    open: Effect.gen(function* () {
      const client = HttpClient.withScope(HttpClient.followRedirects(yield* HttpClient.HttpClient))
      const response = yield* Effect.provideService(client.get(address), HttpClient.TracerPropagationEnabled, false)
      if (response.status !== 200) return yield* new DownloadFailed({ url: address, status: response.status })
      return { size: lengthOf(response.headers), read: () => response.stream, identity: Effect.succeed("") }
    })
  })
