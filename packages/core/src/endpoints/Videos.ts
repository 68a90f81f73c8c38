/**
 * Reads the addresses of videos.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ApiError from "../client/ApiError.ts"
import * as Endpoint from "../client/Endpoint.ts"
import { Video } from "../model/Attachment.ts"

/**
 * Returns a video by the token of its attachment: its address in each rendition, its size and its duration.
 *
 * Fails with `NotFound` if the token is unknown, and with `Forbidden` if the bot has no access to the video.
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
