/**
 * The health of a webhook: whether the bot can receive updates now.
 *
 * @since 0.1.0
 */

/**
 * The state of the subscription: `unmanaged` if this process does not manage it (`Webhook.layerReceiver` alone), `pending`
 * before it is created, `active` while the platform has it, and `missing` if the platform has lost it.
 *
 * @category models
 * @since 0.1.0
 */
export type SubscriptionState = "unmanaged" | "pending" | "active" | "missing"

/**
 * The result of one check.
 *
 * @category models
 * @since 0.1.0
 */
export interface Check {
  /** Whether the check succeeded. */
  readonly ok: boolean
  /** What is wrong, if the check failed. It contains no message of the store, which may contain addresses or names. */
  readonly problem?: string
}

/**
 * The health of a webhook, as its `ready` endpoint returns it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Health {
  /** Whether all checks succeeded. */
  readonly ok: boolean
  /** The result of each check. */
  readonly checks: {
    /** Whether the inbox can be reached and accepts updates. */
    readonly inbox: Check
    /**
     * Whether the oldest waiting update is younger than `maxAge`, with the number of waiting updates and the age of the
     * oldest one in milliseconds.
     */
    readonly queue: Check & { readonly waiting?: number; readonly ageMs?: number }
    /** Whether the platform has the subscription. Not present if this process does not manage the subscription. */
    readonly subscription?: Check
  }
}
