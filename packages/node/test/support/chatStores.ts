import type { ChatStore } from "@colloquy/core"
import { NodeSqlite, RedisChatStore, SqlChatStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as Layer from "effect/Layer"
import * as Databases from "./databases.ts"

/** Creates a store at a location of `places`. */
export const stores: Readonly<Record<string, (place: string) => Layer.Layer<ChatStore.ChatStore, unknown>>> = {
  SQLite: (filename) => SqlChatStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename }))),
  PostgreSQL: (prefix) => SqlChatStore.layer({ prefix }).pipe(Layer.provide(Databases.Postgres)),
  Redis: (prefix) => RedisChatStore.layer({ prefix }).pipe(Layer.provide(NodeRedis.layer({ url: Databases.redisUrl })))
}
