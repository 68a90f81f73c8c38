import { ChatStore } from "@colloquy/core"
import { NodeSqlite, RedisChatStore, SqlChatStore } from "@colloquy/node"
import { ChatStoreSuite } from "@colloquy/testing"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Databases from "./support/databases.ts"

const withoutPostgres = await Databases.isMissing("PostgreSQL", 5432)
const withoutRedis = await Databases.isMissing("Redis", 6379)

const suite = (name: string, isMissing: boolean, store: () => Layer.Layer<ChatStore.ChatStore, unknown>) => {
  describe.skipIf(isMissing)(`a ChatStore in ${name}`, () => {
    it.effect.each(ChatStoreSuite.cases)("$name", ({ effect }) => Effect.provide(effect, store()))
  })
}

suite("memory", false, () => ChatStore.layerMemory())

suite("a SQLite file", false, () =>
  Layer.unwrap(
    Effect.map(Databases.temporaryFolder, (folder) =>
      SqlChatStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: join(folder, "bot.sqlite") })))
    )
  )
)

suite("PostgreSQL", withoutPostgres, () => {
  const schema = Databases.uniqueName("chats")
  return SqlChatStore.layer({ table: `${schema}.chats` }).pipe(Layer.provide(Databases.postgresSchema(schema)))
})

suite("Redis", withoutRedis, () => {
  const prefix = `${Databases.uniqueName("chats")}:`
  return RedisChatStore.layer({ prefix }).pipe(Layer.provide(Databases.redisPrefix(prefix)))
})
