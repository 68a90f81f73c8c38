import { optionalReference } from "../../../base/internal/optionalReference.ts"

/**
 * Creates the slots of an attempt, or of the calls that the call with the slot `parent` makes. Each call of an attempt has
 * a slot: its name, and the number of earlier calls with this name. A call that failed keeps its slot, so that later calls
 * have the same slots in all attempts.
 */
export const makeSlots = (parent?: string) => {
  const prefix = parent === undefined ? "" : `${parent}/`
  const numbers = new Map<string, number>()
  /** The slots of the calls that failed, by name and identity. */
  const failed = new Map<string, Map<unknown, Array<string>>>()
  const slotOf = (name: string, number: number): string => `${prefix}${name} ${number}`
  return {
    /** Returns the slot of a call. The repetition of a call that failed has the slot of that call. */
    take: (name: string, identity?: unknown): string => {
      const again = failed.size === 0 ? undefined : failed.get(name)?.get(identity)?.shift()
      if (again !== undefined) return again
      const number = (numbers.get(name) ?? 0) + 1
      numbers.set(name, number)
      return slotOf(name, number)
    },
    /** A call has failed. */
    fail: (slot: string, name: string, identity?: unknown): void => {
      const byIdentity = failed.get(name) ?? new Map<unknown, Array<string>>()
      failed.set(name, byIdentity)
      const slots = byIdentity.get(identity)
      if (slots === undefined) byIdentity.set(identity, [slot])
      else slots.push(slot)
    },
    /** Returns the slot of the first call of a name. */
    first: (name: string): string => slotOf(name, 1),
    /** Resets the count of a name, so that the next call of the name has the first slot. */
    restart: (name: string): void => void numbers.delete(name)
  }
}

export type Slots = ReturnType<typeof makeSlots>

/** The slots of the calls that the running step makes. Default: the slots of the attempt. */
export const CurrentSlots = optionalReference<Slots>("@colloquy/core/internal/journal/CurrentSlots")
