/** Defects of the kernel, each of which the exploration finds. */
import type { Change } from "../simulation/defects/plant.ts"

/** A defect, and the plan that is explored to find the defect. */
export interface KernelDefect extends Change {
  readonly plan: string
}

const make = (plan: string, file: string, name: string, find: string, replace: string): KernelDefect => ({
  plan,
  file: `inbox/internal/kernel/${file}.ts`,
  name,
  find,
  replace
})

export const kernelDefects: ReadonlyArray<KernelDefect> = [
  make(
    "two",
    "commits",
    "an update begins without its mark",
    "for (const update of begun) write.mark(update)",
    "void begun"
  ),
  make(
    "two",
    "partition",
    "more updates count as marked than the claim has marked",
    "position < this.#marked",
    "position <= this.#marked"
  ),
  make(
    "two",
    "commits",
    "an update begins when its mark is sent",
    "if (update.change === undefined) this.start(update)",
    "this.start(update)"
  ),
  make(
    "lost",
    "results",
    "a lost partition is committed",
    "=> byKey.get(partition.key) === partition",
    "=> partition.key !== undefined && byKey.size >= 0"
  ),
  make("one", "leases", "leases are renewed when they end", "const renewalsPerLease = 3", "const renewalsPerLease = 1"),
  make(
    "one",
    "leases",
    "the renewals of the first lease do not begin",
    "state.byKey.size === 1",
    "state.byKey.size === 0"
  ),
  make("slow", "leases", "renewals end with a failure", "Math.min(failedRenewalInterval, this.#interval)", "Infinity"),
  make(
    "late renewal",
    "leases",
    "a renewal counts from its answer",
    "Object.assign(partition, { wall, mono })",
    "Object.assign(partition, { wall: state.wall, mono: state.mono })"
  ),
  make(
    "expiry",
    "claiming",
    "a lease counts from the answer to its claim",
    "this.#leases.adopt(claimed, claim,",
    "this.#leases.adopt(claimed, { ...claim, wall: this.#state.wall, mono: this.#state.mono },"
  ),
  make(
    "expiry",
    "leases",
    "a chat that is not renewed is kept",
    'else if (partition.state !== "releasing") state.lose(partition)',
    ""
  ),
  make("unknown", "owners", "leases that nobody holds are kept", "this.#found = [...this.#found, ...unknown]", ""),
  make(
    "late claim",
    "leases",
    "calls of another process are not noticed",
    "known.id === claimed.id && isKnown",
    "known.id === claimed.id"
  ),
  make(
    "expiries",
    "state",
    "a chat that was claimed again begins beside its interrupted handlers",
    "partition.isBlocked = this.interrupted.size > 0 && this.interrupted.has(partition.key)",
    ""
  ),
  make("expiries", "kernel", "a chat that was claimed again waits for ever", "again.isBlocked = false", ""),
  make(
    "expiry",
    "state",
    "the handlers of a lost chat are not interrupted",
    "if (isInterrupted) update.delivery.interrupt()",
    ""
  ),
  make(
    "polled",
    "claiming",
    "a wake-up during a claim is lost",
    'claimed(partitions: ReadonlyArray<Claimed>): void {\n    this.#request = "idle"',
    'claimed(partitions: ReadonlyArray<Claimed>): void {\n    this.#isDue = false\n    this.#request = "idle"'
  ),
  make(
    "loss",
    "claiming",
    "a failure ends the claims",
    'again(): void {\n    this.#request = "idle"',
    "again(): void {"
  ),
  make(
    "conflict",
    "write",
    "a conflict counts as an acknowledgement",
    'change.result !== "leaseLost"',
    'change.result !== "leaseLost" && change.result !== "conflict"'
  ),
  make(
    "retry",
    "results",
    "a retry does not wait",
    "this.#state.again(update, outcome.after)",
    "this.#state.again(update, 0)"
  ),
  make("retry", "kernel", "nothing wakes the kernel for a retry", "consider(state.delayedUntil)", ""),
  make(
    "stop",
    "results",
    "an update begins after the stop",
    "if (isRefused(update.change) || this.#state.isStopping)",
    "if (isRefused(update.change))"
  ),
  make(
    "close",
    "closing",
    "a claim goes on after the leases have ended",
    "state.writes.size === 0 && state.owners.claim === undefined",
    "state.writes.size === 0"
  ),
  make("slow", "leases", "two renewals at a time", "if (this.#renewing !== undefined) return", ""),
  make("unknown", "owners", "no claim after a release of unknown leases", "this.isReleasing = false", "")
]
