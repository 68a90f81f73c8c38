import type { Claim } from "../../InboxStore.ts"
import type { Held } from "./held.ts"

/** Maximum number of due rows that become updates with one claim. */
const maxDue = 100

/** How long an idle consumer waits between two claims, in milliseconds. The interval is longer if the store wakes the consumer. */
const pollInterval = 1000
const idlePollInterval = 5000

/**
 * The longest wait of a consumer that the store wakes, if the store has neither leases that end earlier nor timers that
 * are due earlier.
 */
const maxPollInterval = 30_000

/** A consumer waits at most this long for a timer, in milliseconds. Delays beyond 24 days are not supported everywhere. */
const maxTimerWait = 86_400_000

/** When a consumer that has nothing to do asks the store. */
export class Polling<D> {
  readonly #held: Held<D>
  #pollDelay = pollInterval
  isListening = false
  /** When an idle consumer polls. */
  #pollAt = 0
  /** Whether the next claim moves timers that are due to the queue. */
  #takesTimers = true
  #isTaking = false
  /** The due time of the next timer, which is unknown after a change of a timer. */
  #nextTimer = Infinity
  isTimerKnown = false
  /** Whether a timer was changed since the store was asked. */
  #isChanged = false
  /** How often the store has answered that something can be claimed, and nothing was claimed. */
  #zeros = 0

  constructor(held: Held<D>) {
    this.#held = held
  }

  timersChanged(): void {
    this.isTimerKnown = false
    this.#isChanged = true
  }

  /** Begins to wait after a claim. */
  wait(): void {
    const { mono, options } = this.#held
    if (this.isListening) this.#pollDelay = idlePollInterval
    this.#pollAt = options.isShared ? mono + this.#pollDelay : Infinity
  }

  /** When a consumer that waits asks the store. */
  get dueAt(): number {
    return Math.min(this.#pollAt, this.#nextTimer)
  }

  /** When the consumer has to be woken for that. */
  get wakeAt(): number {
    return this.dueAt === Infinity ? Infinity : Math.min(this.dueAt, this.#held.mono + maxTimerWait)
  }

  /** The time has come. Returns whether to ask the store instead of a claim. */
  elapsed(): boolean {
    this.#takesTimers = true
    if (this.isListening && this.#held.mono < this.#nextTimer) return true
    if (!this.isListening) this.#pollDelay = Math.min(2 * this.#pollDelay, idlePollInterval)
    return false
  }

  asked(): void {
    this.#isChanged = false
  }

  /** The store has answered when the next timer is due. */
  timerIsDueIn(millis = Infinity): void {
    this.#zeros = millis === 0 ? this.#zeros + 1 : 0
    // A store that has something for nobody would be asked all the time.
    const pause = this.#zeros < 2 ? 0 : Math.min(2 ** this.#zeros, pollInterval)
    this.#nextTimer = this.#held.mono + Math.max(millis, pause)
    this.isTimerKnown = !this.#isChanged
  }

  /** The store has answered when something can be claimed. Returns whether that is now. */
  claimableIn(millis = Infinity): boolean {
    if (millis === 0) return true
    this.#nextTimer = this.#held.mono + millis
    this.#pollDelay = Math.max(idlePollInterval, Math.min(2 * this.#pollDelay, millis, maxPollInterval))
    this.#pollAt = this.#held.mono + this.#pollDelay
    return false
  }

  woken(): void {
    this.#pollDelay = pollInterval
  }

  /** Returns how many timers a claim takes. A consumer whose handlers are always busy does not wait, and so does not ask. */
  claiming(): Pick<Claim, "maxDue"> {
    this.#isTaking = this.#takesTimers || !this.isTimerKnown || this.#held.mono >= this.#nextTimer
    return this.#isTaking ? { maxDue } : { maxDue: undefined }
  }

  claimed(count: number): void {
    if (count > 0) {
      this.#pollDelay = pollInterval
      this.#zeros = 0
    }
    if (!this.#isTaking) return
    // After timers were taken, there is another next one.
    if (count > 0 || this.#held.mono >= this.#nextTimer) this.isTimerKnown = false
    this.#takesTimers = false
  }
}
