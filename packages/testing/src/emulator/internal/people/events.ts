import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestConsole from "effect/testing/TestConsole"
import type { Exchange } from "../../EmulatorHttp.ts"
import type { Person, PersonEvent } from "../../Person.ts"
import type { PlatformState, SeenEvent, UserState } from "../platform/state.ts"
import { idOf } from "../platform/users.ts"

/** A wait that takes longer than this is reported, in milliseconds of real time. */
const slowAfter = 3000

/** How many of the last calls and events a report lists. */
const maxListed = 5

const maxAnswerLength = 200

const maxLineLength = 400

const list = (items: ReadonlyArray<string>): string => (items.length === 0 ? "nothing" : items.join(", "))

const isPoll = ({ endpoint, status }: Exchange): boolean => endpoint === "Updates.list" && status === 200

const describeCall = ({ answer = "", method, path, query, status }: Exchange): string => {
  const call = `${method} ${path}${query} ${status ?? "without a response"}`
  return status === undefined || status < 400 ? call : `${call} ${answer.slice(0, maxAnswerLength)}`.trimEnd()
}

const textOf = (event: PersonEvent): string | null | undefined => {
  if (event._tag === "Message" || event._tag === "Edited") return event.message.body?.text
  return event._tag === "Notification" ? event.text : undefined
}

const describeEvent = (event: PersonEvent): string => {
  const text = textOf(event)
  return text == null ? event._tag : `${event._tag} ${JSON.stringify(text)}`
}

/** The last logged lines of a test console, which shows no lines during the test. */
const lastLines = Console.consoleWith((console) =>
  "logLines" in console
    ? Effect.map(TestConsole.logLines, (lines) =>
        lines
          .filter((line) => typeof line === "string")
          .slice(-maxListed)
          .map((line) => line.slice(0, maxLineLength))
      )
    : Effect.succeed([])
)

const describeWait = (state: PlatformState, user: UserState, member: string, lines: ReadonlyArray<string>): string => {
  const { first_name } = user.profile
  const calls = state.exchanges.from(0).filter((exchange) => !isPoll(exchange))
  const seen = state.seen.from(0).filter(({ audience }) => audience.has(idOf(user)))
  return [
    `${first_name} has waited for \`${member}\` for ${slowAfter / 1000} s.`,
    `The last calls of the bot: ${list(calls.slice(-maxListed).map(describeCall))}.`,
    `The last events that ${first_name} saw: ${list(seen.slice(-maxListed).map(({ event }) => describeEvent(event)))}.`,
    ...(lines.length === 0 ? [] : [`The last lines of the log:\n${lines.join("\n")}`])
  ].join(" ")
}

/**
 * Logs a warning once if a wait is slow, because a wait in a test may never end. The timer does not keep the process
 * alive.
 */
const reportSlow = <A>(
  state: PlatformState,
  user: UserState,
  member: string,
  wait: Effect.Effect<A>
): Effect.Effect<A> =>
  Effect.contextWith((context) => {
    // The test runner replaces the console of the test, which shows its output only after the test.
    const warning = Effect.flatMap(lastLines, (lines) =>
      Effect.provideService(
        Effect.logWarning(describeWait(state, user, member, lines)),
        Console.Console,
        globalThis.console
      )
    )
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const timer = setTimeout(Effect.runForkWith(context), slowAfter, warning)
        timer.unref?.()
        return timer
      }),
      () => wait,
      (timer) => Effect.sync(() => clearTimeout(timer))
    )
  })

type EventReader = Pick<Person, "reply" | "notification" | "next" | "unread" | "events">

type Kind = PersonEvent["_tag"]

type OfKind<K extends Kind> = Extract<PersonEvent, { readonly _tag: K }>

/** Reads the events of all bots that a person sees, from now on. */
export const makeEventReader = (state: PlatformState, self: UserState): EventReader => {
  const start = state.seen.end
  let position = start
  const unread: Array<PersonEvent> = []

  const isSeen = ({ audience }: SeenEvent): boolean => audience.has(idOf(self))

  const read = (): void => {
    for (const recorded of state.seen.from(position)) if (isSeen(recorded)) unread.push(recorded.event)
    position = state.seen.end
  }

  const take = (member: string, matches: (event: PersonEvent) => boolean): Effect.Effect<PersonEvent> => {
    const takeOr = (otherwise: () => Effect.Effect<PersonEvent>): Effect.Effect<PersonEvent> =>
      Effect.suspend(() => {
        read()
        const index = unread.findIndex(matches)
        return index < 0 ? otherwise() : Effect.succeed(unread.splice(index, 1)[0])
      })
    const wait = (): Effect.Effect<PersonEvent> => Effect.andThen(state.seen.arrival, takeOr(wait))
    return takeOr(() => reportSlow(state, self, member, wait()))
  }

  const takeOf = <K extends Kind>(member: string, kind: K) =>
    take(member, ({ _tag }) => _tag === kind) as Effect.Effect<OfKind<K>>

  return {
    reply: Effect.map(takeOf("reply", "Message"), ({ message }) => message),
    notification: Effect.map(takeOf("notification", "Notification"), ({ text }) => text),
    next: ((wanted: Kind | ((event: PersonEvent) => boolean)) =>
      typeof wanted === "string" ? takeOf(`next("${wanted}")`, wanted) : take("next", wanted)) as Person["next"],
    unread: Effect.sync(() => {
      read()
      const isAction = ({ _tag }: PersonEvent) => _tag === "Action"
      const all = unread.splice(0)
      unread.push(...all.filter(isAction))
      return all.filter((event) => !isAction(event))
    }),
    events: state.seen.stream(start).pipe(
      Stream.filter(isSeen),
      Stream.map(({ event }) => event)
    )
  }
}
