/**
 * A webhook subscription.
 *
 * API: POST /subscriptions.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Millis, nullish } from "./internal/client/wire.ts"

/**
 * A webhook subscription. `time` is when it was created. If `update_types` is missing, all types are delivered.
 *
 * @assumption listSubscriptions
 * @category models
 * @since 0.1.0
 */
export const Subscription = Schema.Struct({
  url: Schema.String,
  time: nullish(Millis),
  update_types: nullish(Schema.Array(Schema.String))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Subscription extends Schema.Schema.Type<typeof Subscription> {}
