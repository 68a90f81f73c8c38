import type * as Cause from "effect/Cause"
import type { ClaimedUpdate, Commit, Completed, Statement } from "../../InboxStore.ts"
import type { Change, Refused } from "./write.ts"

/**
 * - `waiting`: the update can begin again.
 * - `beginning`: the update was selected. The commit that marks the update as begun can be under way.
 * - `ready`: the delivery waits until it is pulled.
 * - `open`: the delivery was pulled and is not settled.
 * - `settling`: the outcome is being written.
 * - `delayed`: the update begins again after a time, or its partition is left to a newer program.
 * - `done`: the update is not in the queue any more, or this process does not handle the update any more.
 */
export type UpdateState = "waiting" | "beginning" | "ready" | "open" | "settling" | "delayed" | "done"

/**
 * - `held`: nothing of the partition is being written.
 * - `committing`: at least one commit is under way.
 * - `releasing`: the commit that ends the lease is under way.
 * - `lost`: another process has claimed the partition.
 * - `released`: the lease has ended.
 */
export type PartitionState = "held" | "committing" | "releasing" | "lost" | "released"

/** The rows and statements that are written with the end of an update. */
export type Written = Pick<Commit, "rows" | "statements">

/** The updates of groups that are acknowledged together or not at all, and the statements of the groups. */
export interface Batch {
  /** The number of updates. */
  readonly size: number
  readonly statements: Array<Statement>
}

/** How a delivery is settled. `after` is in milliseconds. */
export type Outcome =
  /** With a batch, all its updates are acknowledged, or none. */
  | { readonly _tag: "ack"; readonly batch?: Batch | undefined }
  /** `again`: the attempt does not count, and begins again. Nothing is written. */
  | { readonly _tag: "retry" | "again"; readonly after: number }
  /**
   * The partition is left to a process with a newer program, and nothing is written. `newer` is the message about the
   * data of that program.
   */
  | { readonly _tag: "handBack"; readonly newer: string }
  | { readonly _tag: "reject"; readonly cause: Cause.Cause<unknown> }

/** The delivery of an update, as far as the kernel is concerned. */
export interface Delivery {
  /** How the update is settled. The outcome is set until one of the methods that follow ends or undoes it. */
  readonly outcome: Outcome | undefined
  /** The failure of a rejected update. */
  readonly failure: Completed["failure"]
  /** The changes that are written if the update is acknowledged or rejected. */
  readonly written: Written | undefined
  /** Whether this process has written or read all that the journal of the update has in the store now. */
  readonly knows: (stored: ClaimedUpdate) => boolean
  /** Emits the update, which is marked as begun. Returns `false` if the update is never handled, so that nobody pulls the update. */
  readonly start: () => boolean
  /** Ends the handlers of the update. */
  readonly interrupt: () => void
  /** The outcome is written, or is one for which nothing is written. */
  readonly settled: () => void
  /** The store has refused the outcome, so that the update stays open. */
  readonly reopen: () => void
  /** The changes of the update are not applied. Returns whether the attempt has failed. Otherwise, the attempt begins again. */
  readonly refused: (reason: Refused) => boolean
}

type Moves<S extends string> = Readonly<Record<S, ReadonlyArray<S>>>

const updateMoves: Moves<UpdateState> = {
  waiting: ["beginning", "done"],
  beginning: ["ready", "waiting", "done"],
  ready: ["open", "done"],
  open: ["settling", "waiting", "delayed", "done"],
  settling: ["open", "waiting", "delayed", "done"],
  delayed: ["waiting", "done"],
  done: []
}

const partitionMoves: Moves<PartitionState> = {
  held: ["committing", "releasing", "lost"],
  committing: ["held", "committing", "releasing", "lost"],
  releasing: ["held", "lost", "released"],
  lost: [],
  released: []
}

/** Creates the deliveries of updates. */
export interface Maker<D> {
  readonly make: (update: Update<D>) => D & Delivery
}

/** A transition that does not exist. The defect ends the bot with the name of the transition. */
const impossible = (what: string, from: string, to: string): Error =>
  new Error(`The kernel of the inbox cannot move ${what} from "${from}" to "${to}".`)

/** A claimed update that has begun. `D` is its delivery. */
export class Update<D> {
  readonly partition: Partition<D>
  readonly entry: ClaimedUpdate
  readonly delivery: D & Delivery
  #state: UpdateState = "beginning"
  /** The last change that settles the update, or that marks the update as begun. */
  change: Change<D> | undefined = undefined
  /** Whether the store knows that an attempt has begun. */
  isMarked: boolean
  /** Whether the store counts the attempt already, so that neither its end nor a crash is counted. */
  isRecorded = false
  /** Whether the update is being acknowledged or rejected, so that the next update may begin with the same commit. */
  isEnding = false
  /** Whether a warning has said that the delivery is not settled. */
  isReported = false
  /** The monotonic time at which a delayed update goes on. */
  dueAt = 0
  /** Whether the delayed update waits for a newer program. */
  isNewer = false

  constructor(partition: Partition<D>, entry: ClaimedUpdate, isMarked: boolean, maker: Maker<D>) {
    this.partition = partition
    this.entry = entry
    this.isMarked = isMarked
    this.delivery = partition.last = maker.make(this)
  }

  get state(): UpdateState {
    return this.#state
  }

  /** Whether the update is emitted and not settled. */
  get isEmitted(): boolean {
    return this.#state !== "waiting" && this.#state !== "delayed" && this.#state !== "done"
  }

  /** `isEnding` is for the state `settling`. */
  moveTo(to: UpdateState, isEnding = false): void {
    const { partition } = this
    if (this.#state === "waiting") partition.waiting--
    if (!updateMoves[this.#state].includes(to)) throw impossible(`update ${this.entry.id}`, this.#state, to)
    this.#state = to
    if (to === "waiting") partition.waiting++
    if (isEnding !== this.isEnding && to !== "done") partition.open += isEnding ? -1 : 1
    if (to === "done") partition.remove(this)
    this.isEnding = isEnding
  }
}

/** A claimed partition, its lease and its updates. */
export class Partition<D> {
  readonly key: string
  readonly updates: ReadonlyArray<ClaimedUpdate>
  /** The owner of the last claim. The owner changes when an expired lease is claimed again. */
  owner: string
  /** When the lease began, before its request was sent: by the wall clock and by the monotonic clock. */
  wall: number
  mono: number
  /** The updates that have begun and are not done, in order. */
  begun: Array<Update<D>> = []
  /** The delivery that was made last. */
  last: D | undefined = undefined
  /** Number of updates that have begun and are not being acknowledged or rejected. */
  open = 0
  /** Number of updates that can begin again. */
  waiting = 0
  /** Number of commits that are under way. */
  commits = 0
  /** The change that is being prepared. */
  change: Change<D> | undefined = undefined
  /** Number of effects that handle updates of the partition. */
  handlers = 0
  /** Whether no more updates begin, because the partition is left to another process. */
  isLeft = false
  /** Whether handlers still run that began before the partition was lost and claimed again. */
  isBlocked = false
  /** Whether the partition waits for its selection. */
  isSelectable = false
  #state: PartitionState = "held"
  /** Index of the next update that has not begun. */
  #next = 0
  readonly #perChat: number
  /** The number of first updates that the store marked as begun when the partition was claimed. */
  readonly #marked: number

  constructor(
    { key, updates }: { readonly key: string; readonly updates: ReadonlyArray<ClaimedUpdate> },
    lease: { readonly owner: string; readonly wall: number; readonly mono: number },
    perChat: number,
    marked: number
  ) {
    this.key = key
    this.updates = updates
    this.owner = lease.owner
    this.wall = lease.wall
    this.mono = lease.mono
    this.#perChat = perChat
    this.#marked = marked
  }

  get state(): PartitionState {
    return this.#state
  }

  moveTo(to: PartitionState): void {
    if (!partitionMoves[this.#state].includes(to)) throw impossible(`partition ${this.key}`, this.#state, to)
    this.#state = to
  }

  get isLost(): boolean {
    return this.#state === "lost"
  }

  /** The updates that were claimed and have not begun. */
  get rest(): ReadonlyArray<ClaimedUpdate> {
    return this.updates.slice(this.#next)
  }

  get nextEntry(): ClaimedUpdate | undefined {
    if (this.waiting === 0) return this.updates[this.#next]
    return this.begun.find(({ state }) => state === "waiting")?.entry
  }

  /** Nothing of a chat begins before what came before is committed, after a loss, or while the chat is released. */
  get isReady(): boolean {
    if (this.isBlocked || this.isLeft || (this.commits > 0 && this.#perChat === 1)) return false
    if (this.#state !== "held" && this.#state !== "committing") return false
    if (this.waiting > 0) return this.#perChat > 1 || this.open <= this.waiting
    return this.#next < this.updates.length && this.open < this.#perChat
  }

  /** Whether all that is left of the partition waits for a newer program. */
  get needsNewer(): boolean {
    return this.open > 0 && !this.isReady && this.begun.every(({ isNewer }) => isNewer)
  }

  /** Whether every update is settled. If the consumer stops or the partition is left, updates that have not begun do not count. */
  isFinished(isStopping: boolean): boolean {
    return this.open === 0 && (isStopping || this.isLeft || this.#next === this.updates.length)
  }

  /** Whether one of the updates is being settled, so that a commit can still complete the update. */
  isSettlingAny(updates: ReadonlyArray<ClaimedUpdate>): boolean {
    return this.begun.some(({ entry, state }) => state === "settling" && updates.some(({ id }) => id === entry.id))
  }

  /** Selects the next update. */
  begin(maker: Maker<D>): Update<D> {
    if (this.waiting > 0) {
      const again = this.begun.find(({ state }) => state === "waiting")!
      again.moveTo("beginning")
      return again
    }
    const position = this.#next++
    const update = new Update(this, this.updates[position]!, position < this.#marked, maker)
    this.open++
    // The first `push` allocates an array for many.
    if (this.begun.length === 0) this.begun = [update]
    else this.begun.push(update)
    return update
  }

  remove(update: Update<D>): void {
    if (!update.isEnding) this.open--
    const { begun } = this
    if (begun.length === 1) begun.pop()
    else begun.splice(begun.indexOf(update), 1)
  }
}
