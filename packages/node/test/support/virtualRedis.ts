import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Redis from "effect/persistence/Redis"
import { TestClock } from "effect/testing"

/**
 * The last argument of a script is the time in milliseconds that `TIME` returns. Keys expire later than the script says, because
 * time that the machine loses does not pass in the test.
 */
const prelude = `
local server, now = redis, tonumber(table.remove(ARGV))
local redis = {
  call = function(command, ...)
    if command == 'TIME' then return { math.floor(now / 1000), now % 1000 * 1000 } end
    if command ~= 'PEXPIRE' then return server.call(command, ...) end
    local key, millis = ...
    return server.call('PEXPIRE', key, millis + 600000)
  end
}
`

/** How long a call takes to Redis, and its result back, in milliseconds. */
const latency = 0.5

/**
 * Runs an effect with scripts for which the clock of Redis is the clock of the test. Time passes while no script runs, so results
 * do not depend on how fast the machine is.
 */
export const inVirtualTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const redis = yield* Redis.Redis
    const clock = yield* Clock.Clock
    const idle = yield* Latch.make(true)
    let running = 0
    const begin = Effect.sync(() => {
      running++
      idle.closeUnsafe()
    })
    const end = Effect.sync(() => {
      if (--running === 0) idle.openUnsafe()
    })
    const evaluate: Redis.Redis["Service"]["eval"] = <
      Config extends { readonly params: ReadonlyArray<unknown>; readonly result: unknown }
    >(
      script: Redis.Script<Config>
    ) => {
      const atTime = redis.eval(
        Redis.script((now: number, ...params: Config["params"]) => [...script.params(...params), now], {
          lua: prelude + script.lua,
          numberOfKeys: (_, ...params) => script.numberOfKeys(...params)
        }).withReturnType<Config["result"]>()
      )
      return (...params: Config["params"]) =>
        Effect.acquireUseRelease(
          Effect.andThen(Effect.sleep(latency), begin),
          () => Effect.suspend(() => atTime(clock.currentTimeMillisUnsafe(), ...params)),
          () => end
        ).pipe(Effect.tap(Effect.sleep(latency)))
    }
    return yield* Effect.raceFirst(
      Effect.provideService(effect, Redis.Redis, { ...redis, eval: evaluate }),
      Effect.forever(Effect.andThen(idle.await, TestClock.adjust("1 millis")))
    )
  })
