import * as Broadcasts from "@colloquy/core/broadcast/Broadcasts"
import { BroadcastStore } from "@colloquy/core/broadcast/BroadcastStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import * as Timer from "@colloquy/core/bot/Timer"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as UpdateLog from "@colloquy/core/inbox/UpdateLog"
import * as Operations from "@colloquy/core/tools/Operations"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Refused } from "./refused.ts"
import type { Replay } from "./replay.ts"

const maxLimit = 1000

const limitOf = (query: URLSearchParams): number =>
  Math.min(maxLimit, Math.max(1, Math.trunc(Number(query.get("limit"))) || 50))

/** The first rows of a list, and whether there are more. */
const firstOf = <A, E, R>(stream: Stream.Stream<A, E, R>, query: URLSearchParams) => {
  const limit = limitOf(query)
  return Effect.map(Stream.runCollect(Stream.take(stream, limit + 1)), (rows) => ({
    rows: rows.slice(0, limit),
    more: rows.length > limit
  }))
}

const textOf = (query: URLSearchParams, name: string): string | undefined => query.get(name) || undefined

/** The filter of dead letters in a query. */
export const filterOf = (query: URLSearchParams): Operations.DeadLetterFilter => ({
  chat: textOf(query, "chat"),
  cause: textOf(query, "cause")
})

/** Provides a store of the program that has the board, or refuses the request if the program has none. */
const withStore =
  <I, S>(service: Context.Key<I, S>, what: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.serviceOption(service), (found): Effect.Effect<A, E | Refused, Exclude<R, I>> =>
      Option.isSome(found)
        ? Effect.provideService(effect, service, found.value)
        : Effect.fail(new Refused({ status: 404, message: `The program of the board has no ${what}.` }))
    )

const withChats = withStore(ChatStore.ChatStore, "chats")

const withBroadcasts = withStore(BroadcastStore, "broadcasts")

type View = (query: URLSearchParams, replay: Replay) => Effect.Effect<unknown, StoreError | Refused, Inbox.Inbox>

/** The data of the board, by name. The fields are those that `colloquy --json` prints. */
export const views: ReadonlyMap<string, View> = new Map(
  Object.entries<View>({
    status: (_, replay) =>
      Effect.map(Effect.all([Operations.status, Inbox.isPaused]), ([status, paused]) => ({
        ...status,
        paused,
        replay: replay.progress()
      })),
    updates: (query) =>
      Effect.flatMap(UpdateLog.entries, (entries) => {
        const [chat, outcome] = [textOf(query, "chat"), textOf(query, "outcome")]
        const found = entries.filter(
          (entry) =>
            (chat === undefined || chat === String(entry.chat_id)) &&
            (outcome === undefined || outcome === entry.outcome)
        )
        return firstOf(Stream.fromIterable(found.toReversed().map(Operations.logToJson)), query)
      }),
    dead: (query) =>
      firstOf(
        Stream.map(Operations.deadLetters(filterOf(query)), (letter) => ({
          ...Operations.deadLetterToJson(letter),
          chat: Operations.chatOf(letter.update)
        })),
        query
      ),
    chats: (query) => withChats(firstOf(ChatStore.stream({ type: textOf(query, "type") }), query)),
    timers: (query) =>
      firstOf(
        Stream.map(Timer.stream, ({ dueAt, ...timer }) => ({ due_at: dueAt, ...timer })),
        query
      ),
    broadcasts: (query) =>
      withBroadcasts(
        Effect.flatMap(
          BroadcastStore.use((store) => store.list(limitOf(query) + 1)),
          (found) =>
            firstOf(
              Stream.fromIterable(found.map(({ startedAt, ...summary }) => ({ ...summary, started_at: startedAt }))),
              query
            )
        )
      )
  })
)

/** Pauses or resumes a broadcast. Returns whether there is a broadcast of this name that is not over. */
export const setBroadcast = (verb: "pause" | "resume", name: string) => withBroadcasts(Broadcasts[verb](name))
