/** Visits all states of a world, breadth first, so that the first history that breaks a rule is a shortest one. */
import { forgetClasses } from "./graph.ts"
import type { Loaded } from "./load.ts"
import { type Plan, Violation } from "./plan.ts"
import { World } from "./world.ts"

export interface Explored {
  readonly states: number
  /** The rule that does not hold, and the actions that lead there. */
  readonly violation: { readonly rule: string; readonly history: ReadonlyArray<string> } | undefined
  /** Whether states are left, because there are more than the limit. */
  readonly isCut: boolean
}

/** Numbers, of which there can be millions. */
class Numbers {
  values = new Int32Array(1 << 16)
  size = 0

  push(value: number): void {
    if (this.size === this.values.length) {
      const values = new Int32Array(2 * this.size)
      values.set(this.values)
      this.values = values
    }
    this.values[this.size++] = value
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A rule that does not hold, after some actions. */
class Broken extends Error {
  readonly actions: ReadonlyArray<string>

  constructor(error: unknown, actions: ReadonlyArray<string>) {
    super(messageOf(error))
    this.actions = actions
  }
}

/**
 * Checks that the world comes to its end without faults: with the first action that is possible, again and again. The keys of the worlds
 * on the way are added to those of which that is known.
 */
const checkEnd = (from: World, key: number, ending: Set<number>): void => {
  const passed = new Set<number>()
  const labels: Array<string> = []
  for (let world = from; !ending.has(key); key = world.key) {
    const [action] = world.actions()
    try {
      if (passed.has(key) || passed.size > 1000)
        throw new Violation("Without faults, the same happens again and again.")
      passed.add(key)
      if (action === undefined || action.isFault) {
        world.checkRest()
        break
      }
      labels.push(action.label())
      world = world.after(action)
    } catch (error) {
      throw new Broken(error, labels)
    }
  }
  for (const one of passed) ending.add(one)
}

/** Explores at most as many states as the limit says, and the states that are left in the order of the search. */
export const explore = (plan: Plan, loaded: Loaded, limit = Infinity): Explored => {
  forgetClasses()
  const numbers = new Map<number, number>()
  const ending = new Set<number>()
  const before = new Numbers()
  const taken = new Numbers()
  const historyOf = (state: number): ReadonlyArray<string> => {
    const path: Array<number> = []
    for (let at = state; at > 0; at = before.values[at]!) path.unshift(taken.values[at]!)
    let world = World.start(plan, loaded)
    return path.map((number) => {
      const action = world.actions()[number]!
      world = world.after(action)
      return action.label()
    })
  }
  const add = (world: World, from: number, number: number): World | undefined => {
    const { key } = world
    if (numbers.has(key)) return undefined
    numbers.set(key, numbers.size)
    before.push(from)
    taken.push(number)
    checkEnd(world, key, ending)
    return world
  }
  const start = World.start(plan, loaded)
  try {
    add(start, 0, 0)
  } catch (error) {
    const history = error instanceof Broken ? error.actions : []
    return { states: 1, violation: { rule: messageOf(error), history }, isCut: false }
  }
  let frontier: ReadonlyArray<World> = [start]
  let state = 0
  for (; frontier.length > 0 && numbers.size < limit;) {
    const next: Array<World> = []
    for (const world of frontier) {
      const actions = world.actions()
      for (const [number, action] of actions.entries()) {
        try {
          const copy = add(world.after(action), state, number)
          if (copy !== undefined) next.push(copy)
        } catch (error) {
          const history = [...historyOf(state), action.label(), ...(error instanceof Broken ? error.actions : [])]
          return { states: numbers.size, violation: { rule: messageOf(error), history }, isCut: false }
        }
      }
      state++
      if (numbers.size >= limit) break
    }
    frontier = next
  }
  return { states: numbers.size, violation: undefined, isCut: frontier.length > 0 }
}
