/**
 * Stores the upload cache in the storage of a Durable Object.
 *
 * @since 0.1.0
 */
import type { StoreError } from "@colloquy/core/base/StoreError"
import { UploadCache } from "@colloquy/core/endpoints/UploadCache"
import * as Arr from "effect/Array"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { DurableObjectStorage } from "../base/DurableObjectStorage.ts"
import { decodeText, encodeText, openStore } from "../base/internal/database.ts"

const migrations: ReadonlyArray<string> = [
  "CREATE TABLE colloquy_uploads (content TEXT PRIMARY KEY, attachment TEXT NOT NULL) WITHOUT ROWID"
]

/**
 * Creates the cache. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (storage: DurableObjectStorage): Effect.Effect<UploadCache["Service"], StoreError> =>
  openStore<UploadCache["Service"]>(storage, "uploads", migrations, (query) => ({
    get: (key) =>
      Option.map(
        Arr.head(
          query<{ attachment: string }>("SELECT attachment FROM colloquy_uploads WHERE content = ?", encodeText(key))
        ),
        ({ attachment }) => decodeText(attachment)
      ),
    set: (key, attachment) => {
      query(
        "INSERT OR REPLACE INTO colloquy_uploads (content, attachment) VALUES (?, ?)",
        encodeText(key),
        encodeText(attachment)
      )
    },
    remove: (key, attachment) => {
      query(
        "DELETE FROM colloquy_uploads WHERE content = ? AND attachment = ?",
        encodeText(key),
        encodeText(attachment)
      )
    }
  }))

/**
 * Provides an `UploadCache` in the storage of a Durable Object, in the table `colloquy_uploads`, which is created when
 * the layer is built. Entries are kept until they are removed.
 *
 * Fails with a `StoreError` if the table cannot be created.
 *
 * **Example** (Upload a file once, also if the object is ended)
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 * import { DurableObjectUploadCache, type DurableObjectStorage } from "@colloquy/worker"
 * import { Effect } from "effect"
 *
 * const logo = UploadSource.bytes(new Uint8Array(1000))
 *
 * export const upload = (storage: DurableObjectStorage.DurableObjectStorage) =>
 *   Uploads.cached({ type: "file", source: logo, name: "logo.bin" }, Effect.log).pipe(
 *     Effect.provide(DurableObjectUploadCache.layer(storage))
 *   )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (storage: DurableObjectStorage): Layer.Layer<UploadCache, StoreError> =>
  Layer.effect(UploadCache, make(storage))
