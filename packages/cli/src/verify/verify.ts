import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import { observations } from "./observations.ts"
import { type Observation, Probe, read, type Subject } from "./probe.ts"

/** The observation of an assumption. */
export interface Finding {
  readonly assumption: Platform.AssumptionName
  readonly fact: string
  readonly grade: Platform.Grade
  readonly result: "confirmed" | "differs" | "unclear"
  readonly detail?: string
}

const observe = (probe: Probe, { assumption, observe }: Observation) => {
  const about = { assumption, ...Platform.assumptions[assumption] }
  return Effect.match(observe(probe), {
    onFailure: ({ message }): Finding => ({ ...about, result: "unclear", detail: message }),
    onSuccess: (detail): Finding =>
      detail === undefined
        ? { ...about, result: "confirmed" }
        : { ...about, result: probe.refusedBy === undefined ? "differs" : "unclear", detail }
  })
}

/** Without an answer, nothing is assumed: the observations say why. */
const readCircumstances = (probe: Probe) =>
  Effect.gen(function* () {
    const chat = yield* probe.call("GET", `/chats/${probe.subject.chat_id}`)
    const { body } = yield* probe.call("GET", "/subscriptions")
    const subscriptions = read(body, "subscriptions")
    probe.isSubscribed = !Array.isArray(subscriptions) || subscriptions.length > 0
    probe.chatType = read(chat.body, "type")
  }).pipe(Effect.ignore)

/** Tries every assumption that the bot can observe in a chat, and removes the messages that were sent. */
export const verify = Effect.fnUntraced(function* (subject: Subject) {
  const probe = new Probe(subject)
  yield* readCircumstances(probe)
  const possible = observations.filter(({ isPossible }) => isPossible(probe))
  return yield* Effect.forEach(possible, (observation) => observe(probe, observation)).pipe(
    Effect.ensuring(Effect.ignore(probe.cleanUp))
  )
})
