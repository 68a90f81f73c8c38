/**
 * Sources of uploads: bytes in memory, a web `Blob`, a stream of bytes, or a file at a URL. `NodeUploads.fromPath` of
 * `@colloquy/node` adds files.
 *
 * A source is opened at the start of its upload, and released at the end. The content is read in small chunks, so
 * memory stays constant for a file of any size.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { lengthOf } from "../client/internal/responseText.ts"
import { chunkRanges, digest, digestEnds } from "./internal/upload/content.ts"
import { Rejected } from "./DownloadError.ts"

const TypeId = "~@colloquy/core/UploadSource"

/**
 * The access to the content of a source:
 *
 * - `randomAccess`: any range, any number of times. The upload resumes after a failure, also in another process.
 * - `replayable`: from the beginning, any number of times. The upload starts over after a failure.
 * - `once`: from the beginning, once. The upload fails with its first failure.
 *
 * @category models
 * @since 0.1.0
 */
export type Access = "randomAccess" | "replayable" | "once"

/**
 * The content of a source that is open.
 *
 * @category models
 * @since 0.1.0
 */
export interface Opened {
  /** Size of the content in bytes, or `undefined` if unknown. */
  readonly size: number | undefined
  /**
   * Reads the bytes from `from` (included) to `to` (excluded). A source without random access ignores the range and returns
   * its whole content.
   */
  readonly read: (from: number, to: number) => Stream.Stream<Uint8Array, unknown>
  /**
   * A text that identifies the content: equal for the same content, different for other content. The resumption of a
   * saved upload compares the text. Only used with random access.
   */
  readonly identity: Effect.Effect<string, unknown>
}

/**
 * The content of an upload.
 *
 * @category models
 * @since 0.1.0
 */
export interface UploadSource<out A extends Access = Access> {
  readonly [TypeId]: typeof TypeId
  /** The name of the file, or `undefined` if the source has none. */
  readonly name: string | undefined
  /** The access to the content. */
  readonly access: A
  /** Opens the source. The end of the upload releases the acquired resources. */
  readonly open: Effect.Effect<Opened, unknown, HttpClient.HttpClient | Scope.Scope>
}

/**
 * Creates a source. If `open` or `read` fails, the upload fails with the reason `SourceFailed`.
 *
 * **Example** (A source in an object store)
 *
 * ```ts
 * import { UploadSource } from "@colloquy/core"
 * import { Effect, type Stream } from "effect"
 *
 * declare const store: {
 *   readonly head: (key: string) => Effect.Effect<{ readonly size: number; readonly etag: string }, Error>
 *   readonly read: (key: string, from: number, to: number) => Stream.Stream<Uint8Array, Error>
 * }
 *
 * const fromStore = (key: string) =>
 *   UploadSource.make({
 *     name: key,
 *     access: "randomAccess",
 *     open: Effect.map(store.head(key), ({ etag, size }) => ({
 *       size,
 *       read: (from, to) => store.read(key, from, to),
 *       identity: Effect.succeed(etag)
 *     }))
 *   })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A extends Access>(options: Omit<UploadSource<A>, typeof TypeId>): UploadSource<A> => ({
  [TypeId]: TypeId,
  ...options
})

/**
 * Creates a source from bytes in memory.
 *
 * **Example** (Upload a report)
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
        chunkRanges(from, Math.min(to, content.byteLength)).pipe(
          Stream.map(([from, to]) => content.subarray(from, to))
        ),
      identity: digest(content)
    })
  })

/**
 * The part of a web `Blob` or `File` that {@link blob} uses.
 *
 * @category models
 * @since 0.1.0
 */
export interface BlobLike {
  /** Size in bytes. */
  readonly size: number
  /** The name of a `File`. */
  readonly name?: string
  /**
   * The time of the last modification of a `File`, in milliseconds since 1970. The time is part of the identity of the
   * source.
   */
  readonly lastModified?: number
  /** Returns the bytes from `from` (included) to `to` (excluded). */
  readonly slice: (from: number, to: number) => { readonly arrayBuffer: () => Promise<ArrayBuffer> }
}

/**
 * Creates a source from a web `Blob`, or from a `File` with its name.
 *
 * **Example** (Upload a `File`)
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 *
 * const upload = (file: UploadSource.BlobLike) => Uploads.upload({ type: "file", source: UploadSource.blob(file) })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const blob = (content: BlobLike): UploadSource<"randomAccess"> => {
  const read = (from: number, to: number) =>
    chunkRanges(from, Math.min(to, content.size)).pipe(
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
 * Options of {@link stream}.
 *
 * @category options
 * @since 0.1.0
 */
export interface StreamOptions {
  /**
   * Size of the content in bytes. With a size, the size limit is checked before the first byte is sent, and the request
   * has a `Content-Length`. Otherwise the limit is checked while the bytes are sent. Default: unknown.
   */
  readonly size?: number | undefined
}

/**
 * Creates a source from a stream of bytes. The stream is run once, so an upload that fails is not retried.
 *
 * **Example** (Upload generated text)
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
export const stream = <E>(content: Stream.Stream<Uint8Array, E>, options: StreamOptions = {}): UploadSource<"once"> =>
  make({
    name: undefined,
    access: "once",
    open: Effect.succeed({ size: options.size, read: () => content, identity: Effect.succeed("") })
  })

const fileNameOf = (url: string): string | undefined => {
  const [, segment] = /^[a-z]+:\/\/[^/?#]+(?:\/[^/?#]*)*\/([^/?#]+)(?:[?#]|$)/i.exec(url) ?? []
  return segment === undefined
    ? undefined
    : Result.getOrElse(
        Result.try(() => decodeURIComponent(segment)),
        () => segment
      )
}

const hostOf = (url: string): string => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? ""

/**
 * Creates a source from the file at a URL. The `HttpClient` of the program downloads the file during the upload,
 * follows redirects, and downloads the file again if the upload is retried. The name of the file is the last segment of
 * the path. The address may be in a private network, so do not pass an address that a person has sent.
 *
 * A response other than 200 fails the upload with the reason `SourceFailed`, caused by `DownloadError.Rejected`.
 *
 * An image at a public URL can also be sent without an upload: `AttachmentRequest.imageFromUrl` lets the platform fetch
 * the image.
 *
 * **Example** (Upload a file from a URL)
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 *
 * const attachment = Uploads.upload({ type: "video", source: UploadSource.url("https://videos.example/launch.mp4") })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const url = (address: string): UploadSource<"replayable"> =>
  make({
    name: fileNameOf(address),
    access: "replayable",
    open: Effect.gen(function* () {
      const client = HttpClient.withScope(HttpClient.followRedirects(yield* HttpClient.HttpClient))
      const response = yield* Effect.provideService(client.get(address), HttpClient.TracerPropagationEnabled, false)
      if (response.status !== 200) {
        return yield* new Rejected({ host: hostOf(address), status: response.status })
      }
      return { size: lengthOf(response.headers), read: () => response.stream, identity: Effect.succeed("") }
    })
  })
