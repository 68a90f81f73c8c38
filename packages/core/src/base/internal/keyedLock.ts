import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

interface Lock {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

const locks = new WeakMap<object, Map<unknown, Lock>>()

/** Runs the effects of the same owner and key one after the other. */
export const withLock = <A, E, R>(owner: object, key: unknown, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const own = locks.get(owner) ?? new Map<unknown, Lock>()
    locks.set(owner, own)
    const lock = own.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
    own.set(key, lock)
    lock.users++
    return Effect.ensuring(
      lock.semaphore.withPermit(self),
      Effect.sync(() => void (--lock.users === 0 && own.delete(key)))
    )
  })
