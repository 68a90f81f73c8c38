/**
 * A webhook subscription.
 *
 * API: POST /subscriptions.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { isHeaderName } from "../base/internal/rules.ts"
import { Millis, nullish } from "../base/internal/wire.ts"

/**
 * A webhook subscription. `time` is the time of its creation. If `update_types` is missing, all types are delivered.
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

/**
 * The name of the header that carries the secret of a webhook. See `Platform.secretHeader` for the documented name.
 *
 * @category models
 * @since 0.1.0
 */
export const SecretHeader = Schema.String.check(
  Schema.makeFilter((name: string) => isHeaderName(name) || "must be the name of an HTTP header")
)

/**
 * Characters that the secret of a webhook may contain besides letters and digits. See `Platform.secretCharacters` for
 * the documented characters.
 *
 * @category models
 * @since 0.1.0
 */
export const SecretCharacters = Schema.String.check(
  Schema.isPattern(/^[!-+\--~]*$/, { message: "must be visible ASCII characters other than the comma" })
)
