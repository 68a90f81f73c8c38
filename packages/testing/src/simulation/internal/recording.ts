/** The history of a simulation, while it grows, and the handlers that are recorded in it. */
import { StoreError } from "@colloquy/core/base/StoreError"
import type { BotApi } from "@colloquy/core/client/BotApi"
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Update from "@colloquy/core/model/Update"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { HandlingEnded, SimulationEvent, StoreApplied } from "../SimulationEvent.ts"
import { CurrentRun, type MachineEvent, simulated } from "./machine/machine.ts"
import { epoch, type World } from "./world/world.ts"
import type { Process } from "./world/process.ts"

/** A fault of the simulation, which is not a mistake of the bot. */
export class SimulatedFault extends Error {
  override readonly name = "SimulatedFault"
}

type WithoutTime<E> = E extends unknown ? Omit<E, "at"> : never

export class Recording {
  /** All events, also of the store, which are only of interest as moments. */
  readonly moments: Array<SimulationEvent | StoreApplied> = []
  readonly #world: World
  #runs = 0
  /** How many handlers and requests of each living process have not ended. */
  readonly #busy = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  get events(): ReadonlyArray<SimulationEvent> {
    return this.moments.filter((event): event is SimulationEvent => event.type !== "store")
  }

  get isBusy(): boolean {
    return this.#busy.values().some((count) => count > 0)
  }

  #change(process: string, by: number): void {
    const count = this.#busy.get(process)
    if (count !== undefined) this.#busy.set(process, count + by)
  }

  readonly add = (event: WithoutTime<SimulationEvent> | MachineEvent): void => {
    switch (event.type) {
      case "process":
        if (event.change === "started") this.#busy.set(event.process, 0)
        else if (event.change === "killed" || event.change === "ended") this.#busy.delete(event.process)
        break
      case "began":
      case "sent":
        this.#change(event.process, 1)
        break
      case "ended":
      case "answered":
        this.#change(event.process, -1)
        break
      case "store":
        // The requests at the store are large, and nothing reads them.
        if (event.operation === "commit" || event.operation === "write")
          this.moments.push({ ...event, request: undefined, result: undefined })
        return
    }
    this.moments.push({ ...event, at: this.#world.now - epoch } as SimulationEvent)
  }

  /** A number that no other run of a handler has. */
  nextRun(): number {
    return ++this.#runs
  }
}

/** The id of an update: that of its message or callback, or its type, chat and time. */
const idOf = (update: Update.Update): string => {
  switch (update.update_type) {
    case "message_created":
      return update.message?.body?.mid ?? ""
    case "message_callback":
      return update.callback.callback_id
    case "colloquy_timer":
      return `timer ${update.name} ${update.key} ${update.timestamp}`
    default:
      return [
        update.update_type,
        Update.chatOf(update),
        Update.userIdOf(update),
        "timestamp" in update ? update.timestamp : ""
      ].join(" ")
  }
}

const isNotHandled = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isDieReason(reason) && Handler.isNotHandled(reason.defect))

/** Whether a defect is a fault of the simulation, also of its store. */
const isSimulated = (defect: unknown): boolean =>
  defect instanceof SimulatedFault || (defect instanceof StoreError && defect.reason === simulated)

const isDefect = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isDieReason(reason) && !isSimulated(reason.defect))

const firstLineOf = (cause: Cause.Cause<unknown>): string => Cause.pretty(cause).split("\n")[0]

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Pick<HandlingEnded, "error" | "outcome"> => {
  if (Exit.isSuccess(exit)) return { outcome: "success" }
  const { cause } = exit
  if (Cause.hasInterruptsOnly(cause)) return { outcome: "interrupted" }
  if (isNotHandled(cause)) return { outcome: "declined" }
  return { outcome: isDefect(cause) ? "defect" : "failure", error: firstLineOf(cause) }
}

/** A part that throws an exception dies, so that the exception is recorded. */
const caught = (bot: Handler.Handler<unknown, unknown>): Handler.Handler<unknown, unknown> => {
  const catching =
    (handle: Handler.Handler<unknown, unknown>): Handler.Handler<unknown, unknown> =>
    (update) => {
      try {
        return handle(update)
      } catch (error) {
        return Effect.die(error)
      }
    }
  const parts = bot.parts?.map((part) => ({ ...part, handle: catching((update) => part.handle(update)) }))
  return Object.assign(catching(bot), parts === undefined ? {} : { parts })
}

/** Records what a bot handles and which endpoints its handlers call. */
export const recordedBot = (
  bot: Handler.Handler<unknown, unknown>,
  recording: Recording,
  { name }: Process
): Handler.Handler<unknown, unknown> =>
  Handler.transform(caught(bot), (handled, update) =>
    Effect.suspend(() => {
      const { update_type } = update
      const run = recording.nextRun()
      const handling = { process: name, run, update: idOf(update), update_type, chat_id: Update.chatOf(update) }
      recording.add({ type: "began", ...handling })
      return handled.pipe(
        Effect.provideService(CurrentRun, run),
        Effect.onExit((exit) => Effect.sync(() => recording.add({ type: "ended", ...handling, ...outcomeOf(exit) })))
      )
    })
  )

/** Records which endpoints the handlers call, also if an earlier run has made the call. */
export const recordedApi = (api: BotApi["Service"], recording: Recording, { name }: Process): BotApi["Service"] => ({
  execute: (endpoint, request) =>
    Effect.withFiber((fiber) => {
      const run = fiber.getRef(CurrentRun)
      if (run !== undefined) {
        const { text: given } = request as { readonly text?: unknown }
        const text = typeof given === "string" ? given : ""
        recording.add({ type: "asked", process: name, run, endpoint: endpoint.endpoint, text })
      }
      return api.execute(endpoint, request)
    })
})
