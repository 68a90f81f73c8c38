/**
 * Files that are used often are uploaded once: the attachments of uploads, by their content.
 *
 * The cache is a port. `layerMemory` keeps it in the process; `SqlUploadCache` and `RedisUploadCache` of
 * `@colloquy/node` share it between processes. `Uploads.cached` uses it.
 *
 * API: Endpoints, POST /uploads (frequently used files).
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { StoreError } from "./StoreError.ts"

/**
 * Keeps attachments as text, by keys that are made of contents. `remove` forgets an attachment only where it is still the
 * one that is kept: another process may have uploaded the file anew.
 *
 * @category services
 * @since 0.1.0
 */
export class UploadCache extends Context.Service<
  UploadCache,
  {
    readonly get: (key: string) => Effect.Effect<Option.Option<string>, StoreError>
    readonly set: (key: string, attachment: string) => Effect.Effect<void, StoreError>
    readonly remove: (key: string, attachment: string) => Effect.Effect<void, StoreError>
  }
>()("@colloquy/core/UploadCache") {}

/**
 * A cache in the process. It keeps the attachments of so many files, 10,000 unless told, and forgets the one that was
 * used least lately.
 *
 * **Example**
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
export const layerMemory = (options: { readonly capacity?: number | undefined } = {}): Layer.Layer<UploadCache> =>
  Layer.sync(UploadCache, () => {
    const { capacity = 10_000 } = options
    const kept = new Map<string, string>()
    const put = (key: string, attachment: string) => {
      kept.delete(key)
      kept.set(key, attachment)
    }
    return UploadCache.of({
      get: (key) =>
        Effect.sync(() => {
          const known = kept.get(key)
          if (known !== undefined) put(key, known)
          return Option.fromUndefinedOr(known)
        }),
      set: (key, attachment) =>
        Effect.sync(() => {
          put(key, attachment)
          const [oldest] = kept.keys()
          if (kept.size > capacity) kept.delete(oldest)
        }),
      remove: (key, attachment) =>
        Effect.sync(() => {
          if (kept.get(key) === attachment) kept.delete(key)
        })
    })
  })
