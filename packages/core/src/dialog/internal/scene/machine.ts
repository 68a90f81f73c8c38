import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Handler from "../../../inbox/Handler.ts"
import { Inbox } from "../../../inbox/Inbox.ts"
import type { Prediction } from "../../../inbox/Rehearsal.ts"
import type { Control, Definition, Of, StaleScene, States } from "../../Scene.ts"
import type * as State from "../../../bot/State.ts"
import type { Key } from "../../../bot/State.ts"
import type * as Timer from "../../../bot/Timer.ts"
import type { Repliable, TimerUpdate, Update } from "../../../model/Update.ts"
import { belongsElsewhere } from "../../../inbox/internal/rehearsal.ts"
import { requirePart } from "../../../inbox/internal/handlers/current.ts"
import { areOf, idsOf, missingIds } from "../../../bot/internal/state/scopes.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import { defect } from "../../../base/internal/defect.ts"
import type { Entered, make, Stored } from "./stored.ts"

/** A scene, without its types. */
export interface Machine {
  readonly name: string
  readonly of: Of
  readonly codec: ReturnType<typeof make>
  readonly state: State.State<Stored | null, Of>
  readonly timer: Timer.Timer<{ readonly since: number }>
  readonly definitions: ReadonlyMap<string, Definition<States, unknown>>
  /** Returns the replacement of a state that cannot be read, or fails. */
  readonly onStale: (stale: StaleScene) => Effect.Effect<Pick<Entered, "state" | "data"> | undefined, StaleScene>
}

export type Change =
  | { readonly _tag: "Go"; readonly state: string; readonly data: unknown }
  | { readonly _tag: "Stay"; readonly data: unknown }
  | { readonly _tag: "End" }

const maxChanges = 100

/** The number of nested changes of scenes: each change is made by a function of the change before. */
const CurrentDepth = Context.Reference("@colloquy/core/Scene/CurrentDepth", { defaultValue: () => 0 })

/** The timer of a scene with a key. */
export const timersOf = ({ of, timer }: Machine, key: Key<"chat"> | Key<"user"> | Key<"userInChat">) => {
  const { chat_id, user_id } = key as Partial<Key<"userInChat">>
  const target = of === "user" ? { user_id: user_id! } : of === "chat" ? { chat_id: chat_id! } : { chat_id, user_id }
  const options = of === "userInChat" ? { key: `user:${user_id}` } : {}
  const timers = timer.for(target as Timer.Target)
  return {
    in: (after: Duration.Duration, since: number) => timers.in(after, { since }, options),
    at: (time: number, since: number) => timers.at(time, { since }, options),
    cancel: timers.cancel(options)
  }
}

/** The timer of the scene of the update that is being handled. */
const timing = <A, E>(
  machine: Machine,
  use: (timers: ReturnType<typeof timersOf>) => Effect.Effect<A, E, Inbox>
): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => {
    const { inbox, update } = fiber.getRef(CurrentUpdate)!.changes!
    return Effect.provideService(use(timersOf(machine, idsOf(update) as Key<"userInChat">)), Inbox, inbox)
  })

const timeoutOf = ({ definitions }: Machine, state: string): Duration.Duration | undefined => {
  const timeout = definitions.get(state)?.timeout
  return timeout === undefined ? undefined : Duration.fromInputUnsafe(timeout)
}

const insteadOf = ({ onStale }: Machine, stale: StaleScene, { since }: Stored) =>
  Effect.map(onStale(stale), (instead): Entered | undefined => instead && { ...instead, since })

/** Reads a stored state. The replacement of a state that cannot be read is not stored. */
export const decode = (machine: Machine, stored: Stored | null): Effect.Effect<Entered | undefined, StaleScene> =>
  stored === null
    ? Effect.undefined
    : Effect.catch(machine.codec.decode(stored), (stale) => insteadOf(machine, stale, stored))

const replaceStale = Effect.fnUntraced(function* (machine: Machine, stale: StaleScene, stored: Stored) {
  const entered = yield* insteadOf(machine, stale, stored)
  if (entered === undefined) {
    yield* machine.state.clear
    yield* timing(machine, ({ cancel }) => cancel)
    return undefined
  }
  yield* machine.state.set(yield* machine.codec.encode(entered))
  const timeout = timeoutOf(machine, entered.state)
  yield* timing(machine, ({ at, cancel }) =>
    timeout === undefined ? cancel : at(entered.since + Duration.toMillis(timeout), entered.since)
  )
  return entered
})

/** Reads the state of the update that is being handled, and stores the replacement of a state that cannot be read. */
const readOrReplace = Effect.fnUntraced(function* (machine: Machine) {
  const stored = yield* machine.state.get
  if (stored === null) return { entered: undefined, isReplaced: false }
  const decoded = yield* Effect.result(machine.codec.decode(stored))
  return Result.isSuccess(decoded)
    ? { entered: decoded.success, isReplaced: false }
    : { entered: yield* replaceStale(machine, decoded.failure, stored), isReplaced: true }
})

/** Predicts what happens with the stored state of the update that is being rehearsed. */
export const rehearse = Effect.fnUntraced(function* (machine: Machine, update: TimerUpdate) {
  if (!areOf(machine.of, idsOf(update))) return belongsElsewhere
  const stored = yield* machine.state.get
  if (stored === null) return { outcome: "stale", detail: "the stored value is no state" } satisfies Prediction
  const decoded = yield* Effect.result(machine.codec.decode(stored))
  if (Result.isSuccess(decoded)) return { outcome: "continues", detail: stored.state } satisfies Prediction
  const entered = yield* insteadOf(machine, decoded.failure, stored)
  return entered === undefined
    ? ({ outcome: "ends", detail: decoded.failure.message } satisfies Prediction)
    : ({ outcome: "moves", detail: `${stored.state} to ${entered.state}` } satisfies Prediction)
}) as (machine: Machine, update: TimerUpdate) => Effect.Effect<Prediction, unknown>

const read = (machine: Machine) => Effect.map(readOrReplace(machine), ({ entered }) => entered)

/** The argument of the functions of a state, and the change that the function requested. */
const controlOf = (entered: Entered, update: Repliable) => {
  let requested: Change | undefined
  const request = (change: Change) =>
    Effect.sync(() => {
      requested = change
    })
  const control: Control<States, unknown> = {
    data: entered.data,
    update,
    go: (state, data) => request({ _tag: "Go", state, data }),
    stay: (data) => request({ _tag: "Stay", data }),
    end: request({ _tag: "End" })
  }
  return { control, requested: () => requested }
}

const leave = ({ definitions }: Machine, { data, state }: Entered, update: Repliable) =>
  definitions.get(state)?.leave?.({ data, update }) ?? Effect.void

/** Makes a change, and the changes that the functions of the entered states request. */
const apply = Effect.fnUntraced(function* (
  machine: Machine,
  update: Repliable,
  from: Entered | undefined,
  first: Change
) {
  let current = from
  let change = first
  for (let count = 0; count < maxChanges; count++) {
    if (change._tag === "Stay") {
      if (current !== undefined)
        yield* machine.state.set(yield* machine.codec.encode({ ...current, data: change.data }))
      return
    }
    const hadTimer = current !== undefined && timeoutOf(machine, current.state) !== undefined
    if (change._tag === "End") {
      if (current === undefined) return
      yield* leave(machine, current, update)
      yield* machine.state.clear
      if (hadTimer) yield* timing(machine, ({ cancel }) => cancel)
      return
    }
    const entered: Entered = { state: change.state, data: change.data, since: yield* Clock.currentTimeMillis }
    const stored = yield* machine.codec.encode(entered)
    if (current !== undefined) yield* leave(machine, current, update)
    yield* machine.state.set(stored)
    const timeout = timeoutOf(machine, entered.state)
    if (timeout !== undefined) yield* timing(machine, (timers) => timers.in(timeout, entered.since))
    else if (hadTimer) yield* timing(machine, ({ cancel }) => cancel)
    const { control, requested } = controlOf(entered, update)
    yield* machine.definitions.get(entered.state)?.enter?.(control) ?? Effect.void
    const next = requested()
    if (next === undefined) return
    current = entered
    change = next
  }
  return yield* defect(
    `The scene "${machine.name}" entered ${maxChanges} states in a row, the last one is "${current?.state}".`
  )
})

/** Changes the scene of the update that is being handled. */
export const request = Effect.fnUntraced(function* (machine: Machine, change: Change) {
  if (change._tag === "Go") yield* requirePart({ kind: "scene", name: machine.name }, machine)
  const from = yield* read(machine)
  const update = (yield* CurrentUpdate)!.changes!.update as Repliable
  const depth = (yield* CurrentDepth) + 1
  if (depth > maxChanges) {
    return yield* defect(
      `The functions of the scene "${machine.name}" change it forever: \`enter\` or \`leave\` of a state changes it each time ` +
        "that it runs."
    )
  }
  return yield* Effect.provideService(apply(machine, update, from, change), CurrentDepth, depth)
})

const isSame = (a: Entered | undefined, b: Entered): boolean => a?.since === b.since && a.state === b.state

/** Handles an update by the state of its chat or user. */
export const handle = (machine: Machine, update: Update): Handler.Return => {
  if (update.update_type === "unknown" || missingIds(machine.of, idsOf(update)).length > 0) return undefined
  return Effect.gen(function* () {
    const entered = yield* read(machine)
    if (entered === undefined) return yield* Handler.notHandled
    const { control, requested } = controlOf(entered, update)
    const effect = machine.definitions.get(entered.state)?.handler?.(control)(update)
    if (effect === undefined) return yield* Handler.notHandled
    yield* effect
    const change = requested()
    if (change !== undefined) yield* apply(machine, update, yield* read(machine), change)
  })
}

/** Handles the end of the time of a state. Nothing happens if the state was left meanwhile. */
export const timeOut = Effect.fnUntraced(function* (machine: Machine, since: number, update: TimerUpdate) {
  const { entered, isReplaced } = yield* readOrReplace(machine)
  // The timer was that of the state before. The new state has set its own timer.
  if (isReplaced) return
  // The state had a timeout when it was entered, and may have none in this program.
  if (entered === undefined || entered.since !== since || timeoutOf(machine, entered.state) === undefined) return
  const { control, requested } = controlOf(entered, update)
  yield* machine.definitions.get(entered.state)?.onTimeout?.(control) ?? Effect.void
  const current = yield* read(machine)
  const change = requested() ?? (isSame(current, entered) ? ({ _tag: "End" } as const) : undefined)
  if (change !== undefined) yield* apply(machine, update, current, change)
})
