import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { randomUUID } from "node:crypto"

export const url = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379"

export const layer = Layer.orDie(NodeRedis.layer({ url }))

/** The reason to skip the tests that need Redis, or `undefined`. In CI they are never skipped. */
export const reasonToSkip: string | undefined = await Effect.runPromise(
  Redis.Redis.use((redis) => redis.send("PING")).pipe(
    Effect.provide(NodeRedis.layer({ url })),
    Effect.timeout("2 seconds"),
    Effect.as(undefined),
    Effect.catchCause(() => Effect.succeed(`no Redis answers at ${url}`))
  )
)

if (reasonToSkip !== undefined) console.log(`Tests skipped: ${reasonToSkip}.`)

export const isSkipped = reasonToSkip !== undefined && process.env["CI"] !== "true"

/** A unique prefix, whose keys are deleted when the scope ends. */
export const prefix = Effect.acquireRelease(
  Effect.sync(() => `colloquy-test-${randomUUID()}`),
  (prefix) =>
    Redis.Redis.use((redis) =>
      Effect.flatMap(redis.send<ReadonlyArray<string>>("KEYS", `*${prefix}*`), (keys) =>
        keys.length === 0 ? Effect.void : Effect.asVoid(redis.send("DEL", ...keys))
      )
    ).pipe(Effect.provide(layer), Effect.orDie)
)
