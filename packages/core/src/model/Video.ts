/**
 * A video and the addresses from which the video can be played.
 *
 * API: Endpoints, Other operations.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Int64, nullish } from "../base/internal/wire.ts"

/**
 * A video. `urls` has an address for each rendition (`mp4_1080` … `mp4_144`, `hls`). `width` and `height` are in
 * pixels, `duration` is in seconds.
 *
 * @assumption getVideo
 * @category models
 * @since 0.1.0
 */
export const Video = Schema.Struct({
  token: Schema.String,
  urls: nullish(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
  thumbnail: nullish(Schema.Struct({ url: Schema.String, photo_id: nullish(Int64), token: nullish(Schema.String) })),
  width: nullish(Schema.Int),
  height: nullish(Schema.Int),
  duration: nullish(Schema.Finite)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Video extends Schema.Schema.Type<typeof Video> {}
