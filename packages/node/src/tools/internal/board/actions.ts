import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as Operations from "@colloquy/core/tools/Operations"
import * as Effect from "effect/Effect"
import { Refused } from "./refused.ts"
import { lettersOf, type Replay } from "./replay.ts"
import { filterOf, setBroadcast } from "./views.ts"

type Action = (query: URLSearchParams, replay: Replay) => Effect.Effect<string, StoreError | Refused, Inbox.Inbox>

const take =
  (verb: "replay" | "drop", done: string): Action =>
  (query) => {
    const id = query.get("id") ?? ""
    return Effect.flatMap(Operations.takeDeadLetters(verb, [id]), (count) =>
      count > 0
        ? Effect.succeed(`${done} the dead letter ${id}.`)
        : Effect.fail(new Refused({ status: 404, message: `There is no dead letter ${id}.` }))
    )
  }

const broadcast =
  (verb: "pause" | "resume"): Action =>
  (query) => {
    const name = query.get("name") ?? ""
    return Effect.flatMap(setBroadcast(verb, name), (isChanged) =>
      isChanged
        ? Effect.succeed(`${verb === "pause" ? "Paused" : "Resumed"} the broadcast "${name}".`)
        : Effect.fail(new Refused({ status: 409, message: `The broadcast "${name}" is over, or does not exist.` }))
    )
  }

const defaultRate = 10

/** The actions of the board, by name. Each returns a sentence about its result. */
export const actions: ReadonlyMap<string, Action> = new Map(
  Object.entries<Action>({
    replay: take("replay", "Replayed"),
    drop: take("drop", "Deleted"),
    "replay-all": (query, replay) => {
      const rate = Math.max(1, Number(query.get("rate")) || defaultRate)
      return Effect.map(
        replay.start(filterOf(query), rate),
        (total) => `Began to replay ${lettersOf(total)}, ${rate} in a second.`
      )
    },
    "stop-replay": (_, replay) => Effect.map(replay.stop, (done) => `Stopped the replay after ${lettersOf(done)}.`),
    pause: () => Effect.as(Inbox.pause, "Paused the inbox."),
    resume: () => Effect.as(Inbox.resume, "Resumed the inbox."),
    "pause-broadcast": broadcast("pause"),
    "resume-broadcast": broadcast("resume")
  })
)
