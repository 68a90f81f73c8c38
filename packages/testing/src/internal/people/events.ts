import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { PersonEvent, Person } from "../../Person.ts"
import type { UserState, RecordedEvent } from "../platform/model.ts"
import { telling } from "./slowWait.ts"
import { idOf, type PlatformState } from "../platform/state.ts"

/** What a person hears of bots: of all of them, from now on. */
type Ear = Pick<Person, "reply" | "notification" | "next" | "unread" | "events">

type Kind = PersonEvent["_tag"]

type OfKind<K extends Kind> = Extract<PersonEvent, { readonly _tag: K }>

export const makeEar = (state: PlatformState, self: UserState): Ear => {
  const start = state.events.end
  let readTo = start
  const unread: Array<PersonEvent> = []

  const isNear = ({ audience }: RecordedEvent): boolean => audience.has(idOf(self))

  const listen = (): void => {
    for (const hearing of state.events.from(readTo)) if (isNear(hearing)) unread.push(hearing.event)
    readTo = state.events.end
  }

  const take = (what: string, isWanted: (heard: PersonEvent) => boolean): Effect.Effect<PersonEvent> => {
    const takeOr = (otherwise: () => Effect.Effect<PersonEvent>): Effect.Effect<PersonEvent> =>
      Effect.suspend(() => {
        listen()
        const at = unread.findIndex(isWanted)
        return at < 0 ? otherwise() : Effect.succeed(unread.splice(at, 1)[0])
      })
    const wait = (): Effect.Effect<PersonEvent> => Effect.andThen(state.events.arrival, takeOr(wait))
    return takeOr(() => telling(state, self, what, wait()))
  }

  const takeOf = <K extends Kind>(what: string, kind: K) =>
    take(what, ({ _tag }) => _tag === kind) as Effect.Effect<OfKind<K>>

  return {
    reply: Effect.map(takeOf("reply", "Message"), ({ message }) => message),
    notification: Effect.map(takeOf("notification", "Notification"), ({ text }) => text),
    next: ((wanted: Kind | ((heard: PersonEvent) => boolean)) =>
      typeof wanted === "string" ? takeOf(`next("${wanted}")`, wanted) : take("next", wanted)) as Person["next"],
    unread: Effect.sync(() => {
      listen()
      return unread.filter(({ _tag }) => _tag !== "Action")
    }),
    events: state.events.stream(start).pipe(
      Stream.filter(isNear),
      Stream.map(({ event: heard }) => heard)
    )
  }
}
