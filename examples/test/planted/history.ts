/** What bots said and people did in a simulation. */
import type { Simulation, SimulationEvent } from "@colloquy/testing"

type Event<Type extends SimulationEvent.SimulationEvent["type"]> = Extract<
  SimulationEvent.SimulationEvent,
  { readonly type: Type }
>

const ofType = <Type extends SimulationEvent.SimulationEvent["type"]>(
  { events }: Simulation.History,
  type: Type
): ReadonlyArray<Event<Type>> => events.filter((event): event is Event<Type> => event.type === type)

export const deedsOf = (history: Simulation.History) => ofType(history, "did")

interface Word {
  readonly at: number
  readonly chat_id: number
  readonly text: string
}

const textIn = (body: string, field: "notification" | "text"): string => {
  const parsed: unknown = body === "" ? {} : JSON.parse(body)
  return typeof parsed === "object" && parsed !== null && field in parsed ? String(Reflect.get(parsed, field)) : ""
}

/** The messages that the bot has sent, also to people who have stopped the bot. */
export const wordsOf = (history: Simulation.History): ReadonlyArray<Word> =>
  ofType(history, "executed").flatMap(({ at, body, method, path, status }) => {
    const [, chat] = /^\/messages\?chat_id=(-?\d+)/.exec(path) ?? []
    return method === "POST" && chat !== undefined && (status === 200 || status === 403)
      ? [{ at, chat_id: Number(chat), text: textIn(body, "text") }]
      : []
  })

/** The notifications by which presses were answered, by the id of the callback. */
export const answersOf = (history: Simulation.History): ReadonlyMap<string, string> =>
  new Map(
    ofType(history, "executed").flatMap(({ body, path, status }) => {
      const [, callback] = /^\/answers\?.*callback_id=([^&]+)/.exec(path) ?? []
      return callback === undefined || status !== 200
        ? []
        : [[decodeURIComponent(callback), textIn(body, "notification")]]
    })
  )

/** The members whom the bot has removed from a chat. */
export const removalsOf = (
  history: Simulation.History
): ReadonlyArray<{ readonly at: number; readonly user_id: number }> =>
  ofType(history, "executed").flatMap(({ at, method, path, status }) => {
    const [, user] = /^\/chats\/-?\d+\/members\?.*user_id=(\d+)/.exec(path) ?? []
    return method === "DELETE" && user !== undefined && status === 200 ? [{ at, user_id: Number(user) }] : []
  })
