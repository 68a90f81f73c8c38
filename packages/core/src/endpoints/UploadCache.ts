/**
 * A cache of uploaded files: maps the content of a file to its attachment, so that a file that is sent often is
 * uploaded once. `Uploads.cached` uses the cache.
 *
 * `layerMemory` keeps the entries in the process. `SqlUploadCache` and `RedisUploadCache` of `@colloquy/node` share the
 * entries between processes. `DurableObjectUploadCache` of `@colloquy/worker` keeps the entries in a Durable Object.
 * Use one cache per bot. `UploadCacheSuite` of `@colloquy/testing` tests an implementation of your own.
 *
 * The platform stores a file until its message is deleted, so the attachment of an entry may no longer work. `Uploads.cached`
 * then uploads the file again.
 *
 * API: Endpoints, POST /uploads (frequently used files).
 *
 * @assumption storedFiles
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { StoreError } from "../base/StoreError.ts"

/**
 * The cache of uploaded files. Keys and attachments are opaque texts.
 *
 * @category services
 * @since 0.1.0
 */
export class UploadCache extends Context.Service<
  UploadCache,
  {
    /** Returns the attachment of a key, or `None`. */
    readonly get: (key: string) => Effect.Effect<Option.Option<string>, StoreError>
    /** Stores the attachment of a key, and replaces the previous one. */
    readonly set: (key: string, attachment: string) => Effect.Effect<void, StoreError>
    /**
     * Removes the entry of a key if the entry still has this attachment. An entry that another process has replaced
     * stays.
     */
    readonly remove: (key: string, attachment: string) => Effect.Effect<void, StoreError>
  }
>()("@colloquy/core/UploadCache") {}

/**
 * Options of {@link layerMemory}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /** Maximum number of entries. The least recently used entry is removed first. Default: 10,000. */
  readonly capacity?: number | undefined
}

/**
 * Creates a cache in the memory of the process. {@link layerMemory} provides the cache as a service.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory = ({ capacity = 10_000 }: Options = {}): Effect.Effect<UploadCache["Service"]> =>
  Effect.sync(() => {
    // A `Map` iterates in insertion order, so the first entry is the least recently used entry.
    const entries = new Map<string, string>()
    const put = (key: string, attachment: string) => {
      entries.delete(key)
      entries.set(key, attachment)
    }
    return UploadCache.of({
      get: (key) =>
        Effect.sync(() => {
          const attachment = entries.get(key)
          if (attachment !== undefined) put(key, attachment)
          return Option.fromUndefinedOr(attachment)
        }),
      set: (key, attachment) =>
        Effect.sync(() => {
          put(key, attachment)
          const [oldest] = entries.keys()
          if (entries.size > capacity) entries.delete(oldest)
        }),
      remove: (key, attachment) =>
        Effect.sync(() => {
          if (entries.get(key) === attachment) entries.delete(key)
        })
    })
  })

/**
 * Provides a cache in the memory of the process.
 *
 * **Example** (Upload a file once)
 *
 * ```ts
 * import { UploadCache, Uploads, UploadSource } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const logo = UploadSource.bytes(new Uint8Array(1000))
 * const twice = Effect.gen(function* () {
 *   yield* Uploads.cached({ type: "file", source: logo, name: "logo.bin" }, Effect.log)
 *   yield* Uploads.cached({ type: "file", source: logo, name: "logo.bin" }, Effect.log)
 * }).pipe(Effect.provide(UploadCache.layerMemory()))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: Options): Layer.Layer<UploadCache> =>
  Layer.effect(UploadCache, makeMemory(options))
