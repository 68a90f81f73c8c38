import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { Permit, Stage } from "../../RateLimiter.ts"
import type { Backend, LocalPermit, SentPermit } from "./queue.ts"

/** The operations that the permits of a rate limiter have in common. */
export interface Reports extends Pick<Backend, "now" | "onLeave" | "onResponse" | "renew"> {
  readonly onRejected: (permit: SentPermit, retryAfter: Duration.Duration | undefined) => Effect.Effect<void>
}

/** A granted permit. The times of the request change when the permit is confirmed. */
export class GrantedPermit implements Permit, SentPermit {
  readonly #reports: Reports
  readonly id: string | undefined
  readonly at: number
  readonly used: number
  readonly isBucketFull: boolean
  readonly localAt: number
  readonly sequence: number
  readonly bucket: string | undefined
  countedAt: number
  usableUntil: number
  sentAt: number

  constructor(reports: Reports, granted: LocalPermit, sequence: number, bucket: string | undefined, sentAt: number) {
    this.#reports = reports
    this.id = granted.id
    this.at = granted.at
    this.used = granted.used
    this.isBucketFull = granted.isBucketFull
    this.localAt = granted.localAt
    this.sequence = sequence
    this.bucket = bucket
    this.countedAt = granted.countedAt
    this.usableUntil = granted.usableUntil
    this.sentAt = sentAt
  }

  confirm(stage: Stage): boolean {
    const reports = this.#reports
    const sentAt = reports.now()
    reports.onLeave(sentAt - this.localAt)
    if (sentAt > this.usableUntil) {
      const countedAt = reports.renew(this, stage, sentAt)
      if (countedAt === undefined) return false
      this.countedAt = countedAt
      this.usableUntil = sentAt
    }
    this.sentAt = sentAt
    return true
  }

  get responded(): Effect.Effect<void> {
    return this.#reports.onResponse(this)
  }

  rejected(retryAfter?: Duration.Duration): Effect.Effect<void> {
    return this.#reports.onRejected(this, retryAfter)
  }
}
