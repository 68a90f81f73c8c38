/** The operations of random handlers. */
import * as Journal from "@colloquy/core/Journal"
import * as Messages from "@colloquy/core/Messages"
import type { ChatId } from "@colloquy/core/Recipient"
import * as State from "@colloquy/core/State"
import * as Timer from "@colloquy/core/Timer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Dice } from "../../world/dice.ts"
import type { Host } from "../program.ts"

/** The texts that were handled in a chat, in order. */
export const Seen = State.make("seen", Schema.Array(Schema.String), { of: "chat", initial: () => [] })

/** How many operations of all chats have counted. Updates of different chats change it at the same time. */
export const Count = State.make("count", Schema.Int, { of: "bot", initial: () => 0 })

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
  /** Sends a message and edits it. */
  | { readonly type: "edit" }
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

export const planOperation = (dice: Dice): Operation =>
  dice.weighted<() => Operation>([
    [8, () => ({ type: "send" })],
    [2, () => ({ type: "sendBoth" })],
    [2, () => ({ type: "sendEqual", isConcurrent: dice.chance(0.5) })],
    [2, () => ({ type: "sendNamed" })],
    [2, () => ({ type: "timeout", millis: dice.int(dice.pick([200, 10_000])) })],
    [1, () => ({ type: "race", millis: dice.int(200) })],
    [1, () => ({ type: "retry" })],
    [2, () => ({ type: "edit" })],
    [4, () => ({ type: "step", millis: dice.int(500) })],
    [2, () => ({ type: "steps", millis: dice.int(500) })],
    [4, () => ({ type: "timer", millis: dice.int(40_000) })],
    [1, () => ({ type: "timerAgain", millis: dice.int(20_000) })],
    [1, () => ({ type: "timerCancelled", millis: dice.int(20_000) })],
    [5, () => ({ type: "count" })],
    [3, () => ({ type: "sleep", millis: dice.int(4000) })],
    [2, () => ({ type: "fail" })]
  ])()

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

/** The name of what an operation does, which no other operation of the plan has. */
export const nameOf = ({ index, text }: Pick<Place, "index" | "text">): string => `${text}.${index}`

export const operationOf = (operation: Operation, place: Place) => {
  const { chat_id, host } = place
  const { process, strikes, world } = host
  const name = nameOf(place)
  const send = (text: string) => Messages.send({ chat_id, text })
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
      case "edit": {
        const { body } = yield* send(`${name} first`)
        const mid = body?.mid
        if (mid !== undefined) yield* Messages.edit({ message_id: mid, text: `${name} last` })
        return
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
        return yield* Count.update((count) => count + 1)
      case "sleep":
        return yield* Effect.sleep(operation.millis)
      case "fail":
        return strikes("handler", process, name) ? yield* new Declined() : undefined
    }
  })
}
