/** Services of the author, which are in a process of their own and are reached through a network with faults. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { AnyService } from "../Simulation.ts"
import { CurrentRun } from "./machine/machine.ts"
import { type RemoteCall, remoteOf } from "./machine/remote.ts"
import { SimulatedFault } from "./recording.ts"
import type { Stage } from "./run.ts"
import { Process } from "./world/process.ts"

/** A call of a process that is carried out in the process of the service. */
const callOf =
  (
    { plan, recording, strikes, subject, world }: Stage,
    service: AnyService,
    process: Process,
    from: Process
  ): RemoteCall =>
  (method, args, effect) => {
    const detail = `${process.name}.${method}`
    const failed = Effect.suspend((): Effect.Effect<never, unknown> => {
      const error = service.failure?.(method)
      return error === undefined
        ? Effect.die(new SimulatedFault(`${detail} is not available (simulated)`))
        : Effect.fail(error)
    })
    return Effect.withFiber((fiber) => {
      const run = fiber.getRef(CurrentRun)
      const way = Effect.suspend(() => Effect.sleep(world.dice.int(plan.latency + 1)))
      const carriedOut = Effect.onExit(effect, (exit) =>
        Effect.sync(() => {
          const isSuccess = Exit.isSuccess(exit)
          const result = isSuccess ? exit.value : exit.cause
          const call = { process: from.name, run, service: process.name, method, args, result, isSuccess }
          recording.add({ type: "called", ...call })
        })
      )
      const answered = Effect.gen(function* () {
        yield* way
        if (strikes("serviceBefore", from, detail)) return yield* failed
        if (strikes("serviceSlow", from, detail)) yield* Effect.sleep(world.dice.int(20_000))
        if (strikes("serviceAgain", from, detail)) yield* Effect.exit(carriedOut)
        const result = yield* carriedOut
        if (strikes("serviceSilent", from, detail)) return yield* Effect.never
        yield* way
        if (strikes("serviceAfter", from, detail)) return yield* failed
        return result
      })
      return world.remotely(from, process, subject.context, answered)
    })
  }

/** Makes the services of a seed. Returns them as a process of the bot reaches them. */
export const makeServices = async (stage: Stage): Promise<(from: Process) => Context.Context<never>> => {
  const { subject, world } = stage
  const { context, options } = subject
  const reached: Array<(from: Process) => Context.Context<never>> = []
  for (const [name, service] of Object.entries(options.services ?? {})) {
    const process = new Process(name)
    const scope = await world.open(process, context, Scope.make())
    const made = Effect.provideService(service.make as Effect.Effect<object, never, Scope.Scope>, Scope.Scope, scope)
    const shape = await world.open(process, context, made)
    reached.push((from) => Context.make(service.tag, remoteOf(shape, callOf(stage, service, process, from))))
  }
  return (from) => Context.mergeAll(...reached.map((reachedBy) => reachedBy(from)))
}
