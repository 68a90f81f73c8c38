/**
 * Get addresses to upload media to.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Endpoint from "./Endpoint.ts"
import { nullish } from "./internal/wire.ts"

/**
 * What can be uploaded. `photo` is no longer one of them: `image` replaces it.
 *
 * @category models
 * @since 0.1.0
 */
export const UploadType = Schema.Literals(["image", "video", "audio", "file"])

/**
 * @category models
 * @since 0.1.0
 */
export type UploadType = typeof UploadType.Type

/**
 * Where to upload to. `url` takes exactly one file, lives for ever and is used unchanged. `token` comes for `video` and
 * `audio`, and attaches the media once it is uploaded; for `image` and `file` the upload host answers it.
 *
 * @category models
 * @since 0.1.0
 */
export const UploadAddress = Schema.Struct({ url: Schema.String, token: nullish(Schema.String) })

/**
 * @category models
 * @since 0.1.0
 */
export interface UploadAddress extends Schema.Schema.Type<typeof UploadAddress> {}

/**
 * Asks for an address to upload one file to. The upload itself goes to that address, without the token of the bot.
 *
 * **Example**
 *
 * ```ts
 * import { Uploads } from "@colloquy/core"
 *
 * const address = Uploads.create({ type: "image" })
 * ```
 *
 * API: POST /uploads.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const create: Endpoint.Endpoint<{ readonly type: UploadType }, UploadAddress> = Endpoint.make(
  "Uploads.create",
  () => ({
    method: "POST",
    path: "/uploads",
    query: { type: UploadType },
    success: UploadAddress,
    errors: []
  })
)
