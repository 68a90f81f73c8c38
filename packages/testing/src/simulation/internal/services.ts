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

/** A service without faults. */
interface Instance {
  readonly name: string
  readonly process: Process
  readonly service: AnyService
  readonly shape: object
}

/** A call of a process that is carried out in the process of the service. */
const callOf =
  (
    { plan, recording, strikes, subject, world }: Stage,
    from: Process,
    { name, process, service }: Instance
  ): RemoteCall =>
  (method, args, effect) => {
    const detail = `${name}.${method}`
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
          recording.add({ type: "called", process: from.name, run, service: name, method, args, result, isSuccess })
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
  const instances: Array<Instance> = []
  for (const [name, service] of Object.entries(options.services ?? {})) {
    const process = new Process(name)
    const scope = await world.open(process, context, Scope.make())
    instances.push({
      name,
      process,
      service,
      shape: await world.open(
        process,
        context,
        Effect.provideService(service.make as Effect.Effect<object, never, Scope.Scope>, Scope.Scope, scope)
      )
    })
  }
  const reachedBy = (from: Process, instance: Instance): Context.Context<never> =>
    Context.make(instance.service.tag, remoteOf(instance.shape, callOf(stage, from, instance)))
  return (from) => Context.mergeAll(...instances.map((instance) => reachedBy(from, instance)))
}
