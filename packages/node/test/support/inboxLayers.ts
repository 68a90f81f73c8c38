import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite, RedisInboxStore, SqlInboxStore } from "@colloquy/node"
import * as Layer from "effect/Layer"
import * as databases from "./databases.ts"

/** A store of the inbox at a place of `databases.places`. */
export const layerOf = (kind: string, place: string): Layer.Layer<InboxStore.InboxStore, unknown> => {
  switch (kind) {
    case "SQLite":
      return Layer.provide(SqlInboxStore.layer(), NodeSqlite.layer({ filename: place }))
    case "PostgreSQL":
      return Layer.provide(SqlInboxStore.layer({ prefix: place }), databases.hastyPostgres)
    default:
      return Layer.provide(RedisInboxStore.layer({ prefix: place }), databases.redisClient)
  }
}
