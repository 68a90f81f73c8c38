import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { PersonEvent } from "../../Person.ts"
import type { UserState } from "../platform/model.ts"
import type { Exchange } from "../../EmulatorHttp.ts"
import { idOf, type PlatformState } from "../platform/state.ts"

/** How long a wait is nobody's concern, in milliseconds by the clock on the wall. */
const patience = 3000

const mostTold = 5

const mostOfAnswer = 200

const list = (found: ReadonlyArray<string>): string => (found.length === 0 ? "nothing" : found.join(", "))

/** A poll that came to its end says nothing about a bot that keeps silent. */
const isPoll = ({ endpoint, status }: Exchange): boolean => endpoint === "Updates.list" && status === 200

const describeCall = ({ answer = "", method, path, query, status }: Exchange): string => {
  const call = `${method} ${path}${query} ${status ?? "without an answer"}`
  return status === undefined || status < 400 ? call : `${call} ${answer.slice(0, mostOfAnswer)}`.trimEnd()
}

const textOf = (heard: PersonEvent): string | null | undefined => {
  if (heard._tag === "Message" || heard._tag === "Edited") return heard.message.body?.text
  return heard._tag === "Notification" ? heard.text : undefined
}

const describeHeard = (heard: PersonEvent): string => {
  const text = textOf(heard)
  return text == null ? heard._tag : `${heard._tag} ${JSON.stringify(text)}`
}

const describe = (state: PlatformState, who: UserState, what: string): string => {
  const { first_name } = who.profile
  const calls = state.exchanges.from(0).filter((exchange) => !isPoll(exchange))
  const heard = state.events.from(0).filter(({ audience }) => audience.has(idOf(who)))
  return [
    `${first_name} has waited for \`${what}\` for ${patience / 1000} s.`,
    `The last calls of the bot: ${list(calls.slice(-mostTold).map(describeCall))}.`,
    `${first_name} has heard: ${list(heard.slice(-mostTold).map((hearing) => describeHeard(hearing.event)))}.`
  ].join(" ")
}

/** A wait that says once what it waits for, when it takes long: in a test it may never end. It keeps no process alive. */
export const telling = <A>(
  state: PlatformState,
  who: UserState,
  what: string,
  wait: Effect.Effect<A>
): Effect.Effect<A> =>
  Effect.contextWith((context) => {
    // The console of a test keeps to itself what is said there.
    const warning = Effect.suspend(() => Effect.logWarning(describe(state, who, what))).pipe(
      Effect.provideService(Console.Console, globalThis.console)
    )
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const timer = setTimeout(Effect.runForkWith(context), patience, warning)
        timer.unref?.()
        return timer
      }),
      () => wait,
      (timer) => Effect.sync(() => clearTimeout(timer))
    )
  })
