/** The programs of the handlers, and the effects that a run must leave. */

export type Style = "plain" | "markdown" | "keyboard" | "named"

export type Owner = "chat" | "user" | "userInChat" | "bot"

export type Action =
  | { readonly _tag: "Send"; readonly to: "dialog" | "group"; readonly text: string; readonly style: Style }
  | { readonly _tag: "Step"; readonly name: string }
  | { readonly _tag: "Count"; readonly of: Owner }
  | { readonly _tag: "Sleep"; readonly millis: number }
  | { readonly _tag: "Fail"; readonly attempts: number }
  /** A timer that is due soon. */
  | { readonly _tag: "Alarm"; readonly id: string; readonly millis: number }
  /** A timer with one of two keys: set far in the future, moved to soon, or cancelled. */
  | { readonly _tag: "Slot"; readonly slot: number; readonly does: "set" | "move" | "cancel"; readonly id: string }
  | { readonly _tag: "Together"; readonly actions: ReadonlyArray<Action> }

/** The handling of one update. */
export interface Program {
  readonly in: "dialog" | "group"
  readonly actions: ReadonlyArray<Action>
}

/** A generator of pseudorandom numbers from a seed. */
export const makeRandom = (seed: number) => {
  let state = (seed * 2654435761 + 1) >>> 0
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return { next, pick: <A>(values: ReadonlyArray<A>): A => values[next(values.length)]! }
}

export type Random = ReturnType<typeof makeRandom>

/** Creates random programs. A moved timer is due soon, so its key is not used again: the order would depend on the time. */
export const makePrograms = (random: Random, count: number): ReadonlyArray<Program> => {
  const moved = new Set<string>()
  let ids = 0

  const simple = (index: number): Action => {
    switch (random.next(8)) {
      case 0:
        return { _tag: "Step", name: random.pick(["charge", "ask"]) }
      case 1:
      case 2:
        return { _tag: "Count", of: random.pick<Owner>(["chat", "user", "userInChat", "bot"]) }
      case 3:
        return { _tag: "Alarm", id: `alarm ${++ids}`, millis: random.next(30) }
      case 4:
        return { _tag: "Sleep", millis: random.next(20) }
      default: {
        // Updates have different texts: the messages of two processes could be taken for each other otherwise.
        const text = `${index} ${random.pick(["yes", "no"])}`
        const style = random.pick<Style>(["plain", "plain", "markdown", "keyboard", "named"])
        return { _tag: "Send", to: random.pick(["dialog", "dialog", "group"]), text, style }
      }
    }
  }

  const slot = (place: Program["in"]): ReadonlyArray<Action> => {
    const slot = random.next(2)
    if (moved.has(`${place} ${slot}`)) return []
    const does = random.pick(["set", "set", "move", "cancel"] as const)
    if (does === "move") moved.add(`${place} ${slot}`)
    return [{ _tag: "Slot", slot, does, id: `slot ${++ids}` }]
  }

  return Array.from({ length: count }, (_, index): Program => {
    const place = random.pick(["dialog", "dialog", "group"] as const)
    const actions = Array.from({ length: 2 + random.next(4) }, (): ReadonlyArray<Action> => {
      const kind = random.next(10)
      if (kind === 0) return [{ _tag: "Fail", attempts: 1 + random.next(2) }]
      if (kind < 3) return slot(place)
      if (kind > 4) return [simple(index)]
      return [{ _tag: "Together", actions: Array.from({ length: 2 + random.next(3) }, () => simple(index)) }]
    })
    return { in: place, actions: actions.flat() }
  })
}

/** Every action once, without groups. */
const flatten = (actions: ReadonlyArray<Action>): ReadonlyArray<Action> =>
  actions.flatMap((action) => (action._tag === "Together" ? flatten(action.actions) : [action]))

const countOf = (of: Owner, { in: place }: Program): string =>
  of === "chat" || of === "userInChat" ? `${of} of ${place}` : of

/** Returns the effects of programs. `isRung` says whether a due timer was executed. */
export const effectsOf = (programs: ReadonlyArray<Program>, isRung: (id: string) => boolean) => {
  const sent = { dialog: new Array<string>(), group: new Array<string>() }
  const steps: Array<string> = []
  const counts: Record<string, number> = {}
  /** Timers that were due. */
  const rung: Array<string> = []
  /** Timers that are set and not due, by chat and key. */
  const set: Record<string, string> = {}
  const ring = (id: string) => {
    if (!isRung(id)) return
    rung.push(id)
    sent.dialog.push(id)
  }
  for (const program of programs) {
    for (const action of flatten(program.actions)) {
      if (action._tag === "Send") sent[action.to].push(action.text + (action.style === "keyboard" ? " [OK]" : ""))
      else if (action._tag === "Step") steps.push(action.name)
      else if (action._tag === "Alarm") ring(action.id)
      else if (action._tag === "Count") {
        const name = countOf(action.of, program)
        counts[name] = (counts[name] ?? 0) + 1
      } else if (action._tag === "Slot") {
        const key = `${program.in} ${action.slot}`
        if (action.does === "set") set[key] = action.id
        else delete set[key]
        if (action.does === "move") ring(action.id)
      }
    }
  }
  return { ...sent, steps, counts, rung, set }
}

/** Counts the missing and the surplus entries. Entries of `allowed` are not surplus. */
export const compare = (
  expected: ReadonlyArray<string>,
  actual: ReadonlyArray<string>,
  allowed: ReadonlyArray<string> = []
) => {
  const left = [...actual]
  const take = (value: string): boolean => {
    const index = left.indexOf(value)
    if (index >= 0) left.splice(index, 1)
    return index >= 0
  }
  const missing = expected.filter((value) => !take(value))
  allowed.forEach(take)
  return { missing, extra: left }
}
