/**
 * Where a video can be played from.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ApiError from "./ApiError.ts"
import * as Endpoint from "./Endpoint.ts"
import { Video } from "./Video.ts"

/**
 * A video by the token of its attachment: addresses by rendition, size, length.
 *
 * Errors: `NotFound` for an unknown token, `Forbidden`.
 *
 * **Example**
 *
 * ```ts
 * import { Videos } from "@colloquy/core"
 *
 * const video = Videos.get({ token: "the-token-of-the-attachment" })
 * ```
 *
 * API: Endpoints, Other operations (GET /videos/{token}).
 *
 * @category endpoints
 * @since 0.1.0
 */
export const get: Endpoint.Endpoint<{ readonly token: string }, Video, ApiError.Forbidden | ApiError.NotFound> =
  Endpoint.make("Videos.get", () => ({
    method: "GET",
    path: "/videos/{token}",
    params: { token: Schema.String },
    success: Video,
    errors: [ApiError.Forbidden, ApiError.NotFound]
  }))
