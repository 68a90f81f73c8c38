/** The clock, the scheduler and the random numbers of a process. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import type { Process } from "./process.ts"
import type { World } from "./world.ts"

export const servicesOf = (world: World, process: Process): Context.Context<never> => {
  const wall = () => world.now + process.skew
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: wall,
    currentTimeMillis: Effect.sync(wall),
    currentTimeNanosUnsafe: () => BigInt(wall()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(wall()) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(world.now) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(world.now) * 1_000_000n),
    sleep: (duration) => world.sleep(process, duration)
  }
  const scheduler: Scheduler.Scheduler = {
    executionMode: "async",
    // Effect never yields at the first operation of a fiber that goes on. A fiber that is interrupted before its start would forget
    // the interruption.
    shouldYield: ({ currentOpCount }) => world.shouldYield() && currentOpCount > 1,
    makeDispatcher: () => {
      const priority = world.nextPriority()
      return { scheduleTask: (run) => world.schedule(process, run, priority), flush: () => {} }
    }
  }
  const random: typeof Random.Random.Service = {
    nextIntUnsafe: () => Math.floor((world.dice.next() * 2 - 1) * Number.MAX_SAFE_INTEGER),
    nextDoubleUnsafe: () => world.dice.next()
  }
  return Context.make(Scheduler.Scheduler, scheduler).pipe(
    Context.add(Clock.Clock, clock),
    Context.add(Random.Random, random)
  ) as Context.Context<never>
}
