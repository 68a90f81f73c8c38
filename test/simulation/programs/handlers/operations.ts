/** The operations of random handlers. */
import * as Journal from "@colloquy/core/inbox/Journal"
import * as Messages from "@colloquy/core/endpoints/Messages"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as State from "@colloquy/core/bot/State"
import * as Timer from "@colloquy/core/bot/Timer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Dice } from "../../../../packages/testing/src/simulation/internal/world/dice.ts"
import type { Host } from "../program.ts"

const Texts = Schema.Array(Schema.String)

const Seen = State.make("seen", Texts, { of: "chat", initial: () => [] })

const NewerSeen = State.make("seen", Schema.Struct({ texts: Texts }), {
  of: "chat",
  initial: () => ({ texts: [] }),
  version: 2,
  migrate: { 1: State.migration(Texts, (texts) => ({ texts })) }
})

/** Adds a text to those that were handled in a chat, in order. */
export const addSeen = ({ version }: Host, text: string) =>
  version === 1 ? Seen.update((all) => [...all, text]) : NewerSeen.update(({ texts }) => ({ texts: [...texts, text] }))

const Count = State.make("count", Schema.Int, { of: "bot", initial: () => 0 })

const NewerCount = State.make("count", Schema.Int, {
  of: "bot",
  initial: () => 0,
  version: 2,
  migrate: { 1: Schema.Int }
})

/** How many operations of all chats have counted. Updates of different chats change it at the same time. */
const countOf = ({ version }: Host) => (version === 1 ? Count : NewerCount)

export const Later = Timer.make("later", Schema.Struct({ id: Schema.String }))

export type Operation =
  /** Sends a message, which has to arrive once. */
  | { readonly type: "send" }
  /** Sends two messages at the same time. */
  | { readonly type: "sendBoth" }
  /** Sends two equal messages, one after the other or at the same time. */
  | { readonly type: "sendEqual"; readonly isConcurrent: boolean }
  /** Sends a message whose text is different in each attempt. */
  | { readonly type: "sendNamed" }
  /** Gives up a message after a time, and sends another one. */
  | { readonly type: "timeout"; readonly millis: number }
  /** Sends a message in a race with a pause. */
  | { readonly type: "race"; readonly millis: number }
  /** Sends a message again if that fails. */
  | { readonly type: "retry" }
  /** Sends two equal messages at the same time, each again if that fails. */
  | { readonly type: "retryEqual" }
  /** Sends a message and edits it. Somebody may have deleted it meanwhile. */
  | { readonly type: "edit" }
  /** Sends a message and removes it. Somebody may have deleted it meanwhile. */
  | { readonly type: "remove" }
  /** Calls another service, which recognizes repeated calls by their key. */
  | { readonly type: "step"; readonly millis: number }
  /** Two steps of one name, of which the first can fail and is caught. */
  | { readonly type: "steps"; readonly millis: number }
  | { readonly type: "timer"; readonly millis: number }
  /** Sets a timer, and sets it again to a later time. */
  | { readonly type: "timerAgain"; readonly millis: number }
  /** Sets a timer, which is cancelled at once. */
  | { readonly type: "timerCancelled"; readonly millis: number }
  | { readonly type: "count" }
  | { readonly type: "sleep"; readonly millis: number }
  | { readonly type: "fail" }

type Maker = readonly [weight: number, make: (dice: Dice) => Operation]

const makers: ReadonlyArray<Maker> = [
  [8, () => ({ type: "send" })],
  [2, () => ({ type: "sendBoth" })],
  [2, (dice) => ({ type: "sendEqual", isConcurrent: dice.chance(0.5) })],
  [2, () => ({ type: "sendNamed" })],
  [2, (dice) => ({ type: "timeout", millis: dice.int(dice.pick([200, 10_000])) })],
  [1, (dice) => ({ type: "race", millis: dice.int(200) })],
  [1, () => ({ type: "retry" })],
  [4, () => ({ type: "retryEqual" })],
  [2, () => ({ type: "edit" })],
  [2, () => ({ type: "remove" })],
  [4, (dice) => ({ type: "step", millis: dice.int(500) })],
  [2, (dice) => ({ type: "steps", millis: dice.int(500) })],
  [4, (dice) => ({ type: "timer", millis: dice.int(40_000) })],
  [1, (dice) => ({ type: "timerAgain", millis: dice.int(20_000) })],
  [1, (dice) => ({ type: "timerCancelled", millis: dice.int(20_000) })],
  [5, () => ({ type: "count" })],
  [3, (dice) => ({ type: "sleep", millis: dice.int(dice.pick([4000, 4000, 12_000])) })],
  [2, () => ({ type: "fail" })]
]

/**
 * Chooses which operations the handlers of a plan have: all, or few of them, so that those meet each other. Returns what makes
 * an operation.
 */
export const chooseOperations = (dice: Dice): ((dice: Dice) => Operation) => {
  const chosen = dice.chance(0.5) ? makers : Array.from({ length: 2 + dice.int(3) }, () => dice.pick(makers))
  return (dice) => dice.weighted(chosen)(dice)
}

export interface Place {
  readonly host: Host
  readonly chat_id: ChatId
  /** The text of the message that is handled. */
  readonly text: string
  /** The position of the operation in its handler. */
  readonly index: number
}

class Declined extends Schema.TaggedError<Declined>()("Declined", {}) {}

/** Another service: it records the key of each call. */
const charge = ({ history, process, strikes, world }: Host, subject: string, millis: number) =>
  Effect.gen(function* () {
    const key = yield* Journal.key
    history.add({ type: "noted", process: process.name, what: "charged", subject, value: key })
    yield* Effect.sleep(world.dice.int(millis + 1))
    if (strikes("handler", process, subject)) return yield* new Declined()
    return subject
  })

/** A step that only the newer version has, before everything else. */
export const newerStep = (host: Host, text: string) =>
  host.version === 1 ? Effect.void : Journal.step(`check ${text}`, Schema.String, charge(host, `check ${text}`, 200))

/** The name of what an operation does, which no other operation of the plan has. */
export const nameOf = ({ index, text }: Pick<Place, "index" | "text">): string => `${text}.${index}`

export const operationOf = (operation: Operation, place: Place) => {
  const { chat_id, host } = place
  const { process, strikes, world } = host
  const name = nameOf(place)
  const send = (text: string) => Messages.send({ chat_id, text })
  const gone = Effect.sync(() =>
    host.history.add({ type: "noted", process: process.name, what: "gone", subject: name, value: "" })
  )
  return Effect.gen(function* () {
    switch (operation.type) {
      case "send":
        return yield* send(name)
      case "sendBoth":
        return yield* Effect.all([send(`${name}a`), send(`${name}b`)], { concurrency: 2 })
      case "sendEqual":
        return yield* Effect.all([send(name), send(name)], { concurrency: operation.isConcurrent ? 2 : 1 })
      case "sendNamed": {
        const now = yield* Clock.currentTimeMillis
        return yield* Journal.named(send(`${name} at ${now} ${world.dice.int(1000)}`), name)
      }
      case "timeout":
        yield* Effect.exit(Effect.timeout(send(`${name}a`), operation.millis))
        return yield* send(`${name}b`)
      case "race":
        return yield* Effect.raceFirst(Effect.exit(send(name)), Effect.sleep(operation.millis))
      case "retry":
        return yield* Effect.retry(send(name), { times: 2 })
      case "retryEqual": {
        const again = Effect.retry(send(name), { times: 2 })
        return yield* Effect.all([again, again], { concurrency: 2 })
      }
      case "edit": {
        const { body } = yield* send(`${name} first`)
        const mid = body?.mid
        if (mid === undefined) return
        return yield* Effect.catchTag(Messages.edit({ message_id: mid, text: `${name} last` }), "NotFound", () => gone)
      }
      case "remove": {
        const { body } = yield* send(name)
        if (body?.mid === undefined) return
        return yield* Effect.catchTag(Messages.remove({ message_id: body.mid }), "NotFound", () => gone)
      }
      case "step":
        yield* Journal.step(`charge ${name}`, Schema.String, charge(host, name, operation.millis))
        return host.history.add({ type: "noted", process: process.name, what: "received", subject: name, value: "" })
      case "steps": {
        const step = (subject: string) =>
          Journal.step(`pay ${name}`, Schema.String, charge(host, subject, operation.millis))
        yield* Effect.exit(step(`${name}a`))
        const receipt = yield* step(`${name}b`)
        if (receipt !== `${name}b`) return yield* Effect.die(new Error(`${name} received the receipt of ${receipt}`))
        return
      }
      case "timer":
        return yield* Later.in(operation.millis, { id: name }, { key: name })
      case "timerAgain":
        yield* Later.in(operation.millis, { id: `${name} early` }, { key: name })
        return yield* Later.in(operation.millis + 10_000, { id: name }, { key: name })
      case "timerCancelled":
        yield* Later.in(operation.millis, { id: name }, { key: name })
        return yield* Later.cancel({ key: name })
      case "count":
        return yield* countOf(host).update((count) => count + 1)
      case "sleep":
        return yield* Effect.sleep(operation.millis)
      case "fail":
        return strikes("handler", process, name) ? yield* new Declined() : undefined
    }
  })
}
