import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as State from "../../State.ts"
import type { Key } from "../../StateValue.ts"
import type { Timer } from "../../Timer.ts"
import type { Record } from "./record.ts"
import { type Due, timerKeyOf } from "./turn.ts"

const statusOf = ({ entries, startedAt, version, waiting }: Record) => ({
  waitingFor: waiting?.name,
  until: waiting?.until,
  startedAt,
  version,
  results: entries.map(([name]) => name)
})

/** The operations on the conversations of one name that run, from outside of their handlers. */
export const makeRunning = <O extends "chat" | "userInChat">(
  state: State.State<Record | undefined, O>,
  timer: Timer<Due>
) => {
  const recordOf = (key: Key<O>) => Effect.catchTag(state.at(key).get, "StaleState", Effect.die)
  return {
    get: (key: Key<O>) => Effect.map(recordOf(key), (record) => Option.map(Option.fromUndefinedOr(record), statusOf)),
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
          ? Stream.succeed({ key, status: statusOf(value.success) })
          : Stream.empty
      )
    )
  }
}
