import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"

interface Member<A, B, E> {
  readonly item: A
  readonly weight: number
  readonly resume: (exit: Exit.Exit<B, E>) => void
}

export interface Options<A, B, E> {
  /** Does several at once, all or nothing; gives a result for each. */
  readonly run: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>
  readonly weigh: (item: A) => number
  readonly maxWeight: number
}

/** So many failures one after the other are not the fault of what was asked for. */
const maxFailures = 2

/**
 * Joins what is asked for while the last run is under way into the next run. Where a run of several fails, they are run
 * one by one, so that one that cannot be done does not fail the others. The end of the scope waits for
 * what is under way, unless it hangs.
 */
export const make = Effect.fnUntraced(function* <A, B, E>({ run, weigh, maxWeight }: Options<A, B, E>) {
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const idle = Latch.makeUnsafe(true)
  let waiting: Array<Member<A, B, E>> = []
  let isRunning = false
  yield* Effect.addFinalizer(() => Effect.timeoutOption(idle.await, "5 seconds"))

  const take = (): ReadonlyArray<Member<A, B, E>> => {
    let weight = 0
    const end = waiting.findIndex((member, index) => (weight += member.weight) > maxWeight && index > 0)
    const taken = end === -1 ? waiting : waiting.slice(0, end)
    waiting = end === -1 ? [] : waiting.slice(end)
    return taken
  }

  /** Gives the cause where they failed. */
  const runTogether = (members: ReadonlyArray<Member<A, B, E>>) =>
    Effect.matchCause(run(members.map(({ item }) => item)), {
      onSuccess: (results) => members.forEach(({ resume }, index) => resume(Exit.succeed(results[index]))),
      onFailure: (cause) => cause
    })

  const runEach = Effect.fnUntraced(function* (members: ReadonlyArray<Member<A, B, E>>) {
    let failures = 0
    let last: Cause.Cause<E> | undefined
    for (const member of members) {
      const cause: Cause.Cause<E> | void = failures < maxFailures ? yield* runTogether([member]) : last
      failures = cause === undefined ? 0 : failures + 1
      if (cause === undefined) continue
      last = cause
      member.resume(Exit.failCause(cause))
    }
  })

  const drain = Effect.gen(function* () {
    while (waiting.length > 0) {
      // Whoever asks in the same turn of the event loop takes part.
      yield* Effect.yieldNow
      const members = take()
      const cause = yield* runTogether(members)
      if (cause === undefined) continue
      if (members.length === 1) members[0].resume(Exit.failCause(cause))
      else yield* runEach(members)
    }
    isRunning = false
    idle.openUnsafe()
  })

  return (item: A): Effect.Effect<B, E> =>
    Effect.callback((resume) => {
      const member = { item, weight: weigh(item), resume }
      waiting.push(member)
      if (!isRunning) {
        isRunning = true
        idle.closeUnsafe()
        fork(drain)
      }
      return Effect.sync(() => {
        waiting = waiting.filter((other) => other !== member)
      })
    })
})
