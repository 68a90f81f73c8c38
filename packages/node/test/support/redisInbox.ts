import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisInboxStore } from "@colloquy/node"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as databases from "./databases.ts"

/** Tests an inbox of its own in Redis, with the prefix of its keys. */
export const testRedisInbox = (
  name: string,
  body: (
    store: InboxStore.InboxStore["Service"],
    redis: Redis.Redis["Service"],
    prefix: string
  ) => Effect.Effect<void, unknown>
) =>
  it.live(name, () =>
    Effect.suspend(() => {
      const prefix = databases.uniqueName()
      return Effect.gen(function* () {
        yield* body(yield* InboxStore.InboxStore, yield* Redis.Redis, `{${prefix}:inbox}`)
      }).pipe(
        Effect.provide(Layer.provideMerge(RedisInboxStore.layer({ prefix }), databases.redisPrefix(`{${prefix}:`)))
      )
    })
  )
