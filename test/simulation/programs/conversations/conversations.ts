/** Random conversations, with people who press twice, say something else, or do not answer. */
import * as Command from "@colloquy/core/bot/Command"
import * as Conversation from "@colloquy/core/dialog/Conversation"
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Journal from "@colloquy/core/inbox/Journal"
import type * as Message from "@colloquy/core/model/Message"
import type * as TalkModule from "@colloquy/core/dialog/Conversation"
import * as Bot from "@colloquy/core/bot/Bot"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import type { ButtonRef, Person, PersonEvent } from "@colloquy/testing/emulator/Person"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { Simulation } from "../../simulation.ts"
import { recordedHandler } from "../instrument.ts"
import { say } from "../people.ts"
import type { Host, Program } from "../program.ts"
import { auditConversations } from "./audit.ts"
import {
  answerOf,
  type ConversationsPlan,
  doneOf,
  forgottenOf,
  type Part,
  planConversations,
  smallerConversations,
  type Talk,
  textOf
} from "./plan.ts"

const choices = { a: "Apple", b: "Banana", c: "Cherry" } as const

class Declined extends Schema.TaggedError<Declined>()("Declined", {}) {}

const charge = ({ history, process, strikes, world }: Host, subject: string, receipt: string, millis: number) =>
  Effect.gen(function* () {
    const key = yield* Journal.key
    history.add({ type: "noted", process: process.name, what: "charged", subject, value: key })
    yield* Effect.sleep(world.dice.int(millis + 1))
    if (strikes("handler", process, subject)) return yield* new Declined()
    return receipt
  })

/** Carries out a part, and returns its result as text. */
const carryOut = (host: Host, ask: TalkModule.Talk<Conversation.Unanswered>, talk: Talk, part: Part, index: number) =>
  Effect.gen(function* () {
    const name = `part ${index}`
    const say = textOf(talk, index)
    switch (part.type) {
      case "ask":
        return yield* ask.ask(name, { say })
      case "choose":
        return yield* ask.choose(name, { say, choices })
      case "several":
        return (yield* ask.choose(name, { say, choices, several: true })).join("")
      case "confirm":
        return String(yield* ask.confirm(name, { say }))
      case "optional":
        return (yield* ask.ask(name, { say, optional: true })) ?? "skipped"
      case "ignored":
        return yield* ask.choose(name, { say, choices, timeout: `${part.minutes} minutes` })
      case "say":
        yield* ask.say(say)
        return "-"
      case "step":
        return yield* ask.step(
          name,
          Schema.String,
          charge(host, `${talk.id}.${index}`, `receipt ${index}`, part.millis)
        )
      case "sleep":
        yield* ask.sleep(name, `${part.seconds} seconds`)
        return "-"
    }
  })

const bot = ({ people }: ConversationsPlan, host: Host) => {
  const talks = new Map(people.flat().map((talk) => [talk.id, talk] as const))
  const Talking = Conversation.make(
    "talk",
    // Longer than everything that can delay an answer.
    { of: "userInChat", timeout: "2 days", version: host.version, input: Schema.Struct({ id: Schema.String }) },
    Effect.fn(function* (ask, { id }) {
      const talk = talks.get(id)
      if (talk === undefined) return yield* Effect.die(new Error(`There is no conversation ${id}.`))
      const conversation = Effect.forEach(talk.parts, (part, index) => carryOut(host, ask, talk, part, index))
      yield* Effect.matchEffect(conversation, {
        onSuccess: (results) => ask.say(doneOf(talk, results)),
        onFailure: (error) => (error._tag === "Unanswered" ? ask.say(forgottenOf(talk)) : Effect.fail(error))
      })
    })
  )
  const start = Command.make("talk", { arguments: { id: Schema.String } }).on((update, { id }) =>
    Talking.start(update, { id })
  )
  const handler = Handler.first(
    start,
    Talking,
    Handler.on("message_created", () => Effect.void)
  )
  return Bot.run(recordedHandler(host, handler), host.runOptions)
}

/** Waits for a message of the bot with this text. */
const waitFor = (person: Person, text: string): Effect.Effect<Message.Message> =>
  Effect.flatMap(
    person.next((event) => event._tag === "Message" && event.message.body?.text === text),
    (event) => (event._tag === "Message" ? Effect.succeed(event.message) : Effect.die(new Error("not a message")))
  )

/** Says something that is no answer. If its delivery is lost, it arrives behind later messages, so the person waits. */
const sayApart = (simulation: Simulation, person: Person, text: string) => {
  const isHandled = Effect.sync(() =>
    simulation.history.events.some((event) => event.type === "ended" && event.subject === text)
  )
  return Effect.andThen(
    say(simulation, person, text),
    Effect.repeat(isHandled, { schedule: Schedule.spaced("1 second"), until: (is) => is })
  )
}

const answer = (simulation: Simulation, person: Person, talk: Talk, part: Part, index: number) =>
  Effect.gen(function* () {
    const { history, world } = simulation
    const { chat_id } = yield* person.dialog
    const press = (message: Message.Message, button: ButtonRef) =>
      Effect.map(person.press(message, button), (callback) => {
        if (callback !== undefined)
          history.add({ type: "said", chat: String(chat_id), subject: `callback ${callback}` })
      })
    if (part.type === "step" || part.type === "sleep") return
    const message = yield* waitFor(person, textOf(talk, index))
    yield* Effect.sleep(world.dice.int(5000))
    switch (part.type) {
      case "ask":
        return yield* say(simulation, person, answerOf(talk, index))
      case "choose":
        if (part.hasNoise) yield* sayApart(simulation, person, `${talk.id}.${index} something else`)
        yield* press(message, choices[part.choice])
        // The button may have been removed meanwhile.
        for (let presses = 1; presses < part.presses; presses++)
          yield* Effect.exit(press(message, choices[part.choice]))
        return
      case "several":
        for (const choice of part.choices) {
          // A press changes the text of the button. Its position stays.
          yield* press(message, [0, Object.keys(choices).indexOf(choice)])
          // A press whose delivery is lost arrives behind later ones, so the person waits for the effect, or for long.
          const isShown = (event: PersonEvent) =>
            event._tag === "Edited" && event.message.body?.mid === message.body?.mid
          yield* Effect.timeoutOption(person.next(isShown), "30 minutes")
        }
        return yield* press(message, "Done")
      case "confirm":
        return yield* press(message, part.yes ? "Yes" : "No")
      case "optional":
        return yield* press(message, "Skip")
      case "ignored":
      case "say":
        return
    }
  })

const people = ({ people, wait }: ConversationsPlan, simulation: Simulation) =>
  Effect.forEach(
    people,
    Effect.fnUntraced(function* (talks, index) {
      const person = yield* Emulator.user(`Person ${index}`)
      yield* person.start()
      for (const talk of talks) {
        yield* Effect.sleep(simulation.world.dice.int(wait + 1))
        yield* say(simulation, person, `/talk ${talk.id}`)
        for (const [part, planned] of talk.parts.entries()) yield* answer(simulation, person, talk, planned, part)
        yield* person.next((event) => event._tag === "Message" && /done|forgotten/.test(event.message.body?.text ?? ""))
      }
    }),
    { concurrency: "unbounded", discard: true }
  )

export const conversations: Program<ConversationsPlan> = {
  plan: planConversations,
  smaller: smallerConversations,
  bot,
  people,
  audit: auditConversations
}
