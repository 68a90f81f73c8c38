import * as Context from "effect/Context"

/**
 * Gives each call of an attempt its slot: its name, and the number of earlier calls with this name. A call that failed
 * keeps its slot, so that later calls have the same slots in all attempts.
 */
export interface Slots {
  /** Returns the slot of a call. The repetition of a call that failed has the slot of that call. */
  readonly take: (name: string, identity?: unknown) => string
  /** A call has failed. */
  readonly fail: (slot: string, name: string, identity?: unknown) => void
  /** Returns the slot of the first call of a name. */
  readonly first: (name: string) => string
  /** Resets the count of a name, so that the next call of the name has the first slot. */
  readonly restart: (name: string) => void
}

/** Creates the slots of an attempt, or of the calls that the call with the slot `parent` makes. */
export const makeSlots = (parent?: string): Slots => {
  const prefix = parent === undefined ? "" : `${parent}/`
  const numbers = new Map<string, number>()
  /** The slots of the calls that failed, by name and identity. */
  const failed = new Map<string, Map<unknown, Array<string>>>()
  const slotOf = (name: string, number: number): string => `${prefix}${name} ${number}`
  return {
    take: (name, identity) => {
      const again = failed.size === 0 ? undefined : failed.get(name)?.get(identity)?.shift()
      if (again !== undefined) return again
      const number = (numbers.get(name) ?? 0) + 1
      numbers.set(name, number)
      return slotOf(name, number)
    },
    fail: (slot, name, identity) => {
      const byIdentity = failed.get(name) ?? new Map<unknown, Array<string>>()
      failed.set(name, byIdentity)
      const slots = byIdentity.get(identity)
      if (slots === undefined) byIdentity.set(identity, [slot])
      else slots.push(slot)
    },
    first: (name) => slotOf(name, 1),
    restart: (name) => void numbers.delete(name)
  }
}

/** The slots of the calls that the running step makes. Default: the slots of the attempt. */
export const CurrentSlots = Context.Reference<Slots | undefined>("@colloquy/core/internal/journal/CurrentSlots", {
  defaultValue: () => undefined
})
