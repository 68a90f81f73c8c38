import { RedisInboxStore } from "@colloquy/node"
import { InboxSuite } from "@colloquy/testing"
import { describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { contend } from "./support/contention.ts"
import * as databases from "./support/databases.ts"

describe.skipIf(!(await databases.redisAnswers()))("the inbox in Redis", () => {
  const withKeys = <A, E>(use: (prefix: string) => Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const prefix = databases.uniqueName()
      return Effect.provide(use(prefix), Layer.provide(databases.redisKeys(prefix), databases.redis))
    })

  const store = (prefix: string) => Layer.provide(RedisInboxStore.layer({ prefix }), databases.redis)

  for (const { name, effect } of InboxSuite.cases) {
    it.effect(name, () => withKeys((prefix) => Effect.provide(effect, store(prefix))))
  }

  it.live(
    "several who share a server handle each letter once, in order",
    () => withKeys((prefix) => contend(store(prefix))),
    60_000
  )
})
