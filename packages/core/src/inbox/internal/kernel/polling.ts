import type { Claim } from "../../InboxStore.ts"
import type { KernelState } from "./state.ts"

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
  readonly #state: KernelState<D>
  #pollDelay = pollInterval
  isListening = false
  /** When an idle consumer polls. */
  #pollAt = 0
  /** Whether the next claim moves timers that are due to the queue. */
  #takesTimers = true
  #isTaking = false
  /** The due time of the next timer, which is unknown after a change of a timer. */
  #nextTimer = Infinity
  #isTimerKnown = false
  /** Whether a timer was changed since the store was asked. */
  #isChanged = false
  /** How often the store has answered that something can be claimed, and nothing was claimed. */
  #zeros = 0

  constructor(state: KernelState<D>) {
    this.#state = state
  }

  timersChanged(): void {
    this.#isTimerKnown = false
    this.#isChanged = true
  }

  /** Begins to wait after a claim. */
  wait(): void {
    const { mono, options } = this.#state
    if (this.isListening) this.#pollDelay = idlePollInterval
    this.#pollAt = options.isShared ? mono + this.#pollDelay : Infinity
  }

  /** When a consumer that waits has to be woken. */
  get wakeAt(): number {
    const dueAt = Math.min(this.#pollAt, this.#nextTimer)
    return dueAt === Infinity ? Infinity : Math.min(dueAt, this.#state.mono + maxTimerWait)
  }

  /** Whether the consumer asks the store now: after a change of a timer, and instead of a claim if the store wakes the consumer. */
  asks(): boolean {
    const { mono } = this.#state
    const isPoll = this.isListening && mono >= this.#pollAt && mono < this.#nextTimer
    if (this.#isTimerKnown && !isPoll) return false
    this.#isChanged = false
    return true
  }

  /** Whether the consumer claims now, although nothing has woken the consumer. */
  isDue(): boolean {
    const { mono } = this.#state
    if (mono < this.#pollAt && mono < this.#nextTimer) return false
    this.#takesTimers = true
    if (!this.isListening) this.#pollDelay = Math.min(2 * this.#pollDelay, idlePollInterval)
    return true
  }

  /** The store has answered when something can be claimed. */
  answered(millis = Infinity): void {
    const { mono } = this.#state
    this.#zeros = millis === 0 ? this.#zeros + 1 : 0
    // A store that has something for nobody would be asked all the time.
    const pause = this.#zeros < 2 ? 0 : Math.min(2 ** this.#zeros, pollInterval)
    this.#nextTimer = mono + Math.max(millis, pause)
    this.#isTimerKnown = !this.#isChanged
    if (!this.isListening || mono < this.#pollAt) return
    this.#pollDelay = Math.max(idlePollInterval, Math.min(2 * this.#pollDelay, millis, maxPollInterval))
    this.#pollAt = mono + this.#pollDelay
  }

  woken(): void {
    this.#pollDelay = pollInterval
  }

  /** Returns how many timers a claim takes. A consumer whose handlers are always busy does not wait, and so does not ask. */
  claiming(): Pick<Claim, "maxDue"> {
    this.#isTaking = this.#takesTimers || !this.#isTimerKnown || this.#state.mono >= this.#nextTimer
    return this.#isTaking ? { maxDue } : { maxDue: undefined }
  }

  claimed(count: number): void {
    if (count > 0) {
      this.#pollDelay = pollInterval
      this.#zeros = 0
    }
    if (!this.#isTaking) return
    // After timers were taken, there is another next one.
    if (count > 0 || this.#state.mono >= this.#nextTimer) this.#isTimerKnown = false
    this.#takesTimers = false
  }
}
