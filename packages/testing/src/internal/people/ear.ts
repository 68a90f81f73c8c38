import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Heard, Person } from "../../Person.ts"
import type { Account, Hearing } from "../platform/model.ts"
import { telling } from "./telling.ts"
import { idOf, type World } from "../platform/world.ts"

/** What a person hears of bots: of all of them, from now on. */
type Ear = Pick<Person, "reply" | "notification" | "next" | "unread" | "hears">

type Kind = Heard["_tag"]

type OfKind<K extends Kind> = Extract<Heard, { readonly _tag: K }>

export const makeEar = (world: World, self: Account): Ear => {
  const start = world.heard.end
  let readTo = start
  const unread: Array<Heard> = []

  const isNear = ({ audience }: Hearing): boolean => audience.has(idOf(self))

  const listen = (): void => {
    for (const hearing of world.heard.from(readTo)) if (isNear(hearing)) unread.push(hearing.heard)
    readTo = world.heard.end
  }

  const take = (what: string, isWanted: (heard: Heard) => boolean): Effect.Effect<Heard> => {
    const takeOr = (otherwise: () => Effect.Effect<Heard>): Effect.Effect<Heard> =>
      Effect.suspend(() => {
        listen()
        const at = unread.findIndex(isWanted)
        return at < 0 ? otherwise() : Effect.succeed(unread.splice(at, 1)[0])
      })
    const wait = (): Effect.Effect<Heard> => Effect.andThen(world.heard.arrival, takeOr(wait))
    return takeOr(() => telling(world, self, what, wait()))
  }

  const takeOf = <K extends Kind>(what: string, kind: K) =>
    take(what, ({ _tag }) => _tag === kind) as Effect.Effect<OfKind<K>>

  return {
    reply: Effect.map(takeOf("reply", "Message"), ({ message }) => message),
    notification: Effect.map(takeOf("notification", "Notification"), ({ text }) => text),
    next: ((wanted: Kind | ((heard: Heard) => boolean)) =>
      typeof wanted === "string" ? takeOf(`next("${wanted}")`, wanted) : take("next", wanted)) as Person["next"],
    unread: Effect.sync(() => {
      listen()
      return unread.filter(({ _tag }) => _tag !== "Action")
    }),
    hears: world.heard.stream(start).pipe(
      Stream.filter(isNear),
      Stream.map(({ heard }) => heard)
    )
  }
}
