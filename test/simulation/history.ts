/** What happened in a run. The auditor and the trace read nothing else. */
import type { MachineEvent } from "../../packages/testing/src/simulation/internal/machine/machine.ts"
import { epoch, type World } from "../../packages/testing/src/simulation/internal/world/world.ts"

/** A person did something that the bot has to handle. */
export interface Said {
  readonly type: "said"
  readonly chat: string
  readonly subject: string
}

/** A handler began to handle something, or ended. A handler whose process is killed does not end. */
export interface Handling {
  readonly type: "began" | "ended"
  readonly process: string
  readonly chat: string
  readonly subject: string
  /** Distinguishes the runs of handlers. */
  readonly run: number
  /** Only of `ended`. */
  readonly outcome?: "success" | "failure" | "interrupted" | "newer"
}

/** A program reports something for its own rules. */
export interface Noted {
  readonly type: "noted"
  readonly process: string
  readonly what: string
  readonly subject: string
  readonly value: string
}

/** A replica has taken the place of the store. */
export interface FailedOver {
  readonly type: "failedOver"
  /** The store has lost what was applied after this time. */
  readonly since: number
}

export type Happening = MachineEvent | Said | FailedOver | Handling | Noted

export type Event = Happening & {
  /** Milliseconds of virtual time since the beginning of the world. */
  readonly at: number
}

export class History {
  readonly events: Array<Event> = []
  readonly #world: World
  #runs = 0

  constructor(world: World) {
    this.#world = world
  }

  add(happening: Happening): void {
    this.events.push({ at: this.#world.now - epoch, ...happening })
  }

  /** A number that no other run of a handler has. */
  nextRun(): number {
    return ++this.#runs
  }
}

/** Returns the events of a type. */
export const ofType = <T extends Event["type"]>(
  events: ReadonlyArray<Event>,
  type: T
): ReadonlyArray<Extract<Event, { readonly type: T }>> =>
  events.filter((event): event is Extract<Event, { readonly type: T }> => event.type === type)

/** JSON without the private parts of values, and with bigints as texts. */
export const toText = (value: unknown): string =>
  JSON.stringify(value, (key, part: unknown) => {
    if (typeof part === "bigint") return String(part)
    return key === "decoded" ? undefined : part
  }) ?? "-"
