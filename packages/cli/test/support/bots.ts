import * as Inbox from "@colloquy/core/inbox/Inbox"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Update from "@colloquy/core/model/Update"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { dirname } from "node:path"
import * as Databases from "../../../node/test/support/databases.ts"
import { layerOf } from "../../../node/test/support/inboxLayers.ts"
import type { Place } from "../../src/base/settings.ts"
import { type Ran, run } from "./run.ts"

/** A bot with its data in a store of its own. */
export interface Bot {
  readonly kind: string
  /** The file, or the prefix. */
  readonly place: string
  /** Runs the command with the settings of the bot. */
  readonly colloquy: (...args: ReadonlyArray<string>) => Effect.Effect<Ran>
  /** Runs the command in a terminal. */
  readonly inTerminal: (ask: Place["ask"], ...args: ReadonlyArray<string>) => Effect.Effect<Ran>
  /** Runs an effect with the inbox of the bot, as another process would. */
  readonly onInbox: <A, E>(effect: Effect.Effect<A, E, Inbox.Inbox | InboxStore>) => Effect.Effect<A, unknown>
}

const flagsOf = (kind: string, place: string): ReadonlyArray<string> => {
  if (kind === "SQLite") return []
  return ["--store", kind === "Redis" ? "redis" : "postgres", "--prefix", place]
}

const envOf = (kind: string, place: string): Readonly<Record<string, string>> => {
  if (kind === "SQLite") return { BOT_INBOX: place }
  return kind === "Redis"
    ? { REDIS_URL: Databases.redisUrl }
    : { DATABASE_URL: "postgres://postgres@127.0.0.1:5432/test" }
}

const places = Databases.places("cli")

export const makeBot = Effect.fnUntraced(function* (kind: string) {
  const place = yield* places[kind]!
  const store = layerOf(kind, place)
  const cwd = kind === "SQLite" ? dirname(place) : "/"
  const bot: Bot = {
    kind,
    place,
    colloquy: (...args) => run([...args, ...flagsOf(kind, place)], envOf(kind, place), cwd),
    inTerminal: (ask, ...args) => run([...args, ...flagsOf(kind, place)], envOf(kind, place), cwd, undefined, ask),
    onInbox: (effect) => Effect.scoped(Effect.provide(effect, Layer.provideMerge(Inbox.layer(), store)))
  }
  yield* bot.onInbox(Effect.void)
  return bot
})

export const started = (chat_id: number, timestamp: number, name = "Anna") =>
  JSON.stringify({
    update_type: "bot_started",
    timestamp,
    chat_id,
    user: { user_id: 7, first_name: name, is_bot: false }
  })

export const added = (chat_id: number, timestamp: number) =>
  JSON.stringify({
    update_type: "bot_added",
    timestamp,
    chat_id,
    user: { user_id: 8, first_name: "Boris", is_bot: false },
    is_channel: false
  })

export const queuedOf = (text: string, receivedAt = Date.now()): QueuedUpdate.QueuedUpdate => {
  const decoded = Update.parse(text)
  if (Result.isFailure(decoded)) throw decoded.failure
  return QueuedUpdate.fromDecoded(decoded, { receivedAt, text })
}

/** Queues updates, and stores dead letters with their errors. */
export const fill = (
  updates: ReadonlyArray<string>,
  deadLetters: ReadonlyArray<{ readonly text: string; readonly error: string; readonly at?: number }> = []
) =>
  Effect.gen(function* () {
    const store = yield* InboxStore
    yield* store.enqueue({
      updates: updates.map((text) => queuedOf(text)),
      deadLetters: [],
      now: Date.now(),
      duplicatesSince: 0
    })
    for (const { at = Date.now(), error, text } of deadLetters) {
      yield* store.enqueue({
        updates: [],
        deadLetters: [{ update: queuedOf(text), error }],
        now: at,
        duplicatesSince: 0
      })
    }
  })
