/**
 * What a rate limiter asks of its store, and what the store answers: permits, memberships and the adaptive state.
 *
 * The service is `RateLimiterStore`. Only authors of stores need this module.
 *
 * @since 0.1.0
 */

/**
 * Time that a waiting process may be late with its next request before it loses its place, in milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const gracePeriod = 250

/**
 * How long a process waits for each process that comes before it to take its permit, in milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const turn = 10

/**
 * How long a process waits while all permits of the host are reserved for absent members, in milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const reservedRetryAfter = 200

/**
 * A limit of at most `count` permits in any window.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limit {
  /** Maximum number of permits in the window. */
  readonly count: number
  /** Length of the window, in milliseconds. It includes the margin of the rate limiter. */
  readonly window: number
}

/**
 * A request for one permit.
 *
 * @category models
 * @since 0.1.0
 */
export interface PermitRequest {
  /** Id of the permit. No other permit of any process has it. */
  readonly id: string
  /** The bucket that the permit counts in, with its limit, or `undefined` if only the limit of the host applies. */
  readonly bucket: (Limit & { readonly key: string }) | undefined
  /** Whether the permit is spread over the window of the host beyond a burst of a third of the limit. */
  readonly isPaced: boolean
}

/**
 * A granted permit.
 *
 * @category models
 * @since 0.1.0
 */
export interface Granted {
  /**
   * Time at which the permit was granted, in milliseconds of the store's clock. The request leaves no earlier. It is later
   * than the call of the store if the permit was granted in advance.
   */
  readonly at: number
  /** Time at which the permit counts in the windows. It is later than `at` if the request is expected to arrive late. */
  readonly countedAt: number
  /** How many permits the window of the host held before this one. */
  readonly used: number
  /** Whether this permit was the last one of its bucket, so that a 429 may come from the limit of the bucket. */
  readonly isBucketFull: boolean
}

/**
 * The result of a {@link PermitRequest}: the permit was granted, or the limit of the bucket or of the host is used up.
 * `retryAfter` is the time until the next permit may be granted, in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export type PermitResult =
  | ({ readonly _tag: "Granted" } & Granted)
  | { readonly _tag: "BucketFull"; readonly retryAfter: number }
  | { readonly _tag: "HostFull"; readonly retryAfter: number }

/**
 * A process that shares the limits. A process with a share is a member of the store: while it is absent, the store grants
 * its share to nobody, because it may send it without the store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Process {
  /** Id of the process. A process that restarts gets a new one. */
  readonly id: string
  /** Share of the limit of the host that the process may send while it cannot reach the store. 0 if it then waits. */
  readonly share: number
  /** The member is absent if it has not called `acquire` for this time, in milliseconds. */
  readonly absentAfter: number
  /** The share of an absent member is reserved for this time after its last call of `acquire`, in milliseconds. */
  readonly reserveFor: number
  /** `epoch` of the last result of `acquire`, or `undefined` before the first one. */
  readonly epoch: string | undefined
  /** `reserved` of the last result of `acquire`, or 0 if the process may not use it any more. */
  readonly reserved: number
  /** `reservedForOthers` of the last result of `acquire`. */
  readonly reservedForOthers: number
}

/**
 * A request that a process sent while it could not reach the store.
 *
 * @category models
 * @since 0.1.0
 */
export interface SentAlone {
  /** Id of the permit. The store counts it once, however often it is reported. */
  readonly id: string
  /** The bucket that the request counts in, with its limit, or `undefined` if only the limit of the host applies. */
  readonly bucket: (Limit & { readonly key: string }) | undefined
  /** Minimum time since the request was sent, in milliseconds. */
  readonly age: number
}

/**
 * The options of `acquire`.
 *
 * @category models
 * @since 0.1.0
 */
export interface AcquireOptions {
  /** The process that asks. */
  readonly process: Process
  /** The requested permits, the most urgent first. Without any, the call only renews the membership of the process. */
  readonly requests: ReadonlyArray<PermitRequest>
  /** The configured limit of the host. The adaptive state and reserved shares may lower it. */
  readonly host: Limit
  /** How much later than they are granted the permits count, in milliseconds. */
  readonly delay: number
  /** A permit that is free within this time is granted in advance, in milliseconds. */
  readonly advance: number
  /** Maximum sum of `delay` and `advance` of all processes, in milliseconds. */
  readonly maxDelay: number
  /** Time of the store's clock after which the call does nothing, because the process no longer waits for it. */
  readonly deadline: number
  /** Granted permits whose requests were not sent. The store removes them first. */
  readonly unused: ReadonlyArray<{ readonly id: string; readonly bucket: string | undefined }>
  /** What the process sent without the store. The store counts it first. */
  readonly sentAlone: ReadonlyArray<SentAlone>
}

/**
 * The result of `acquire`, or `Late` if the deadline was over and the call did nothing.
 *
 * @category models
 * @since 0.1.0
 */
export type AcquireResult =
  | {
      readonly _tag: "Acquired"
      /** Time of the store's clock, in milliseconds. */
      readonly now: number
      /** One result for each request, in their order. */
      readonly results: ReadonlyArray<PermitResult>
      /** The limit of the host after reductions. What is reserved for absent members is not subtracted. */
      readonly hostLimit: number
      /** Id of the contents of the store. A store that lost its contents has another one. */
      readonly epoch: string
      /** Number of permits in a window that are reserved for the process while it is absent. */
      readonly reserved: number
      /** Number of permits in a window that are reserved for the other members, in case they are absent. */
      readonly reservedForOthers: number
    }
  | { readonly _tag: "Late"; readonly now: number }

/**
 * The host limit after its adaptation to 429 responses, and when it may be raised. All fields are numbers, so a store can
 * keep it as JSON. Times are milliseconds of the store's clock.
 *
 * @category models
 * @since 0.1.0
 */
export interface AdaptiveState {
  /** The current limit: how many permits the window of the host may hold. */
  readonly limit: number
  /** The limit before the last reduction. */
  readonly limitBefore: number
  /** The limit after the last reduction. */
  readonly limitAfter: number
  /** Time of the last reduction. A 429 of a request that was sent before belongs to this reduction. */
  readonly reducedAt: number
  /** Time from which a higher limit may be tried. */
  readonly raiseAt: number
  /** By how much the limit is raised next. */
  readonly raiseBy: number
  /** How long the next reduction delays the first raise. */
  readonly raiseDelay: number
}
