import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

interface Group<A, E> {
  readonly items: ReadonlyArray<A>
  readonly written: Deferred.Deferred<void, E>
}

const groupsAtOnce = 1000

/**
 * Writes what callers bring meanwhile all at once, when the write before is done. A caller goes on when its own items
 * are written. A batch that is refused is written group by group, so that one group does not cost the others.
 *
 * The writes run with the context of the scope, not of the callers: who is in a transaction must not come here.
 */
export const make = Effect.fnUntraced(function* <A, E>(
  write: (items: ReadonlyArray<A>) => Effect.Effect<void, E>,
  isRefusal: (error: E) => boolean
): Effect.fn.Return<(items: ReadonlyArray<A>) => Effect.Effect<void, E>, never, Scope.Scope> {
  const queue = yield* Effect.acquireRelease(Queue.unbounded<Group<A, E>>(), (queue) =>
    Effect.andThen(
      Effect.flatMap(Queue.clear(queue), (left) => Effect.forEach(left, ({ written }) => Deferred.interrupt(written))),
      Queue.shutdown(queue)
    )
  )

  const writeGroups = (groups: ReadonlyArray<Group<A, E>>): Effect.Effect<void> =>
    write(groups.flatMap(({ items }) => items)).pipe(
      Effect.catchIf(
        (error) => groups.length > 1 && isRefusal(error),
        () => Effect.forEach(groups, (group) => writeGroups([group]), { discard: true })
      ),
      Effect.onExit((exit) => Effect.forEach(groups, ({ written }) => Deferred.done(written, exit), { discard: true })),
      Effect.ignoreCause
    )

  yield* Queue.takeBetween(queue, 1, groupsAtOnce).pipe(Effect.flatMap(writeGroups), Effect.forever, Effect.forkScoped)

  return (items) =>
    Effect.suspend(() => {
      const written = Deferred.makeUnsafe<void, E>()
      return Queue.offerUnsafe(queue, { items, written }) ? Deferred.await(written) : Effect.interrupt
    })
})
