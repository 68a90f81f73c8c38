import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { Inbox } from "../../../inbox/Inbox.ts"
import * as State from "../../../bot/State.ts"
import type { Key } from "../../../bot/State.ts"
import type { Timer } from "../../../bot/Timer.ts"
import type { Record } from "./record.ts"
import { type Due, timerKeyOf } from "./turn.ts"
import { whereIs } from "./unfinished.ts"

/** The member of a conversation that has the operations of the functions of `Conversation`. */
export const operations: unique symbol = Symbol("@colloquy/core/Conversation/operations")

const statusOf = ({ entries, startedAt, version, waiting }: Record, deadLetter: string | undefined) => ({
  waitingFor: waiting?.name,
  until: waiting?.until,
  startedAt,
  version,
  deadLetter,
  results: entries.map(([name]) => name)
})

const readStatus = (record: Record) =>
  record.unfinished === undefined
    ? Effect.succeed(statusOf(record, undefined))
    : Effect.flatMap(Inbox, ({ store }) =>
        Effect.map(whereIs(store, record.unfinished!), (found) =>
          statusOf(record, typeof found === "object" ? found.deadLetter : undefined)
        )
      )

/** The operations on the conversations of one name that run, from outside of their handlers. */
export const makeRunning = <O extends "chat" | "userInChat">(
  state: State.State<Record | undefined, O>,
  timer: Timer<Due>
) => {
  const recordOf = (key: Key<O>) => Effect.catchTag(state.at(key).get, "StaleState", Effect.die)
  return {
    get: (key: Key<O>) =>
      Effect.flatMap(recordOf(key), (record) =>
        record === undefined ? Effect.succeedNone : Effect.map(readStatus(record), Option.some)
      ),
    stop: Effect.fnUntraced(function* (key: Key<O>) {
      const record = yield* recordOf(key)
      yield* state.at(key).clear
      const { chat_id, user_id }: Partial<Key<"userInChat">> = key
      const target = { chat_id: chat_id!, ...(user_id === undefined ? {} : { user_id }) }
      yield* timer.for(target).cancel(timerKeyOf(state.of === "userInChat" ? user_id : undefined))
      return record !== undefined
    }),
    all: State.stream(state).pipe(
      Stream.flatMap(({ key, value }) =>
        Result.isSuccess(value) && value.success !== undefined
          ? Stream.fromEffect(Effect.map(readStatus(value.success), (status) => ({ key, status })))
          : Stream.empty
      )
    )
  }
}
