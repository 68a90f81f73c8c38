/** Carries out disturbances at their times, or when something happens. */
import { epoch, type World } from "../world/world.ts"

/** When a disturbance happens. `M` are the moments for which disturbances can wait. */
export interface Timed<M> {
  /** When, in milliseconds. */
  readonly at: number
  /** How many milliseconds at least after the disturbance before. Default: 0. */
  readonly pause?: number
  /** How many tasks are executed at that time before. */
  readonly tasks: number
  /** The disturbance waits for this moment of any process, for a while, and happens to this process. */
  readonly on?: M
  /** Only moments of other processes count than of the one that was disturbed last, and the disturbance waits longer. */
  readonly isOther?: boolean
}

export interface Disturbing<E, M, D extends Timed<M>> {
  readonly world: World
  /** The history, which grows. */
  readonly events: ReadonlyArray<E>
  /** Returns the process of an event that is the moment. */
  readonly processAt: (event: E, on: M) => string | undefined
  readonly disturbances: ReadonlyArray<D>
  /** For how long disturbances happen, in milliseconds. */
  readonly duration: number
  /** Whether disturbances wait for their moments until the end. Default: they wait for a while. */
  readonly isPatient?: boolean
  /** Disturbs one of the running processes, and returns its name. `name`: the one, if it runs. */
  readonly disturb: (disturbance: D, name?: string) => string | undefined
}

/** How long a disturbance waits for its moment, in milliseconds. */
const maxWait = 10_000

/** The same for a moment of another process, which may have to wait until a lease ends. */
const maxWaitForOther = 60_000

/** Carries out the disturbances, while people use the bot. */
export const disturbAll = async <E, M, D extends Timed<M>>(disturbing: Disturbing<E, M, D>): Promise<void> => {
  const { disturb, disturbances, duration, events, isPatient = false, processAt, world } = disturbing

  /** Executes tasks until the moment of another process than `before`. Returns the name of the process. */
  const untilMoment = async (on: M, before: string | undefined, until: number): Promise<string | undefined> => {
    for (let index = events.length; ;) {
      for (; index < events.length; index++) {
        const process = processAt(events[index], on)
        if (process !== undefined && process !== before) return process
      }
      if (!(await world.step(until))) return undefined
    }
  }

  const end = epoch + duration
  let last: string | undefined
  let lastAt = -Infinity
  for (const disturbance of disturbances) {
    if (disturbance.at > duration) break
    const { at, isOther = false, on, pause = 0 } = disturbance
    await world.run(Math.max(0, Math.min(end, Math.max(epoch + at, lastAt + pause)) - world.now))
    const until = isPatient ? end : world.now + (isOther && last !== undefined ? maxWaitForOther : maxWait)
    const name = on === undefined ? undefined : await untilMoment(on, isOther ? last : undefined, until)
    // Without the moment, another process would be disturbed than the one that the plan means.
    if (isOther && name === undefined) continue
    for (let tasks = disturbance.tasks; tasks > 0 && (await world.step(world.now)); tasks--);
    last = disturb(disturbance, name)
    lastAt = world.now
  }
  await world.run(Math.max(0, end - world.now))
}
