import * as Effect from "effect/Effect"

/**
 * Lets a fiber wait until a condition holds. The condition is read in the step that registers the fiber: a fiber can
 * yield between two steps, and would miss a change that is made meanwhile. At most one fiber waits at a time.
 */
export const makeWaiter = (isReady: () => boolean) => {
  let waiting: (() => void) | undefined

  const registered = Effect.callback<void>((done) => {
    if (isReady()) return done(Effect.void)
    const resume = () => done(Effect.void)
    waiting = resume
    return Effect.sync(() => {
      if (waiting === resume) waiting = undefined
    })
  })

  return {
    until: Effect.suspend(() => (isReady() ? Effect.void : registered)),
    /** Called after each change that the condition depends on. */
    wake: (): void => {
      if (waiting === undefined || !isReady()) return
      const resume = waiting
      waiting = undefined
      resume()
    }
  }
}
