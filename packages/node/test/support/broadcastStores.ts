import type * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { NodeSqlite, RedisBroadcastStore, SqlBroadcastStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as Layer from "effect/Layer"
import * as Databases from "./databases.ts"

/** Creates a store at a location of `places`. */
export const stores: Readonly<Record<string, (place: string) => Layer.Layer<BroadcastStore.BroadcastStore, unknown>>> =
  {
    SQLite: (filename) => SqlBroadcastStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename }))),
    PostgreSQL: (prefix) => SqlBroadcastStore.layer({ prefix }).pipe(Layer.provide(Databases.Postgres)),
    Redis: (prefix) =>
      RedisBroadcastStore.layer({ prefix }).pipe(Layer.provide(NodeRedis.layer({ url: Databases.redisUrl })))
  }
