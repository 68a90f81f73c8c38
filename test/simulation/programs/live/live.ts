/** Live messages whose streams pause, fail and are stopped. */
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Keyboard from "@colloquy/core/model/Keyboard"
import * as LiveMessage from "@colloquy/core/live/LiveMessage"
import * as Update from "@colloquy/core/model/Update"
import * as Bot from "@colloquy/core/bot/Bot"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Simulation } from "../../simulation.ts"
import type { Dice } from "../../../../packages/testing/src/simulation/internal/world/dice.ts"
import { recordedHandler } from "../instrument.ts"
import { press, sayIn, waitForText } from "../people.ts"
import type { Host, Program } from "../program.ts"
import { smallerLists, withSmaller } from "../smaller.ts"
import { auditLive, failure } from "./audit.ts"

/** A message of a person that is answered by a live message. */
export interface Question {
  readonly text: string
  /** Number of words of the answer. */
  readonly words: number
  /** Maximum pause before each word, in milliseconds. */
  readonly pause: number
  /** Whether the source is a function, which continues after what was said. */
  readonly continues: boolean
  /** After how many milliseconds the person stops the answer. `undefined`: never. */
  readonly stopAfter: number | undefined
  /** How long the person waits before. */
  readonly wait: number
}

export interface LivePlan {
  readonly people: ReadonlyArray<ReadonlyArray<Question>>
  /** Which people ask in a group of theirs, where they may delete what the bot says. Default: nobody. */
  readonly groups?: ReadonlyArray<number>
}

const planQuestion = (dice: Dice, text: string): Question => ({
  text,
  words: dice.pick([1, 2, 3 + dice.int(60), 3 + dice.int(60), 900]),
  pause: dice.pick([0, 20, 400]),
  continues: dice.chance(0.5),
  stopAfter: dice.chance(0.2) ? dice.int(6000) : undefined,
  wait: dice.int(20_000)
})

const plan = (dice: Dice): LivePlan => ({
  people: Array.from({ length: 1 + dice.int(4) }, (_, person) =>
    Array.from({ length: 1 + dice.int(6) }, (_, index) => planQuestion(dice, `l${person}-${index}`))
  ),
  groups: [0, 1, 2, 3].filter(() => dice.chance(0.3))
})

const smallerQuestions = (question: Question): ReadonlyArray<Question> => [
  ...(question.words > 1 ? [{ ...question, words: Math.ceil(question.words / 2) }] : []),
  ...(question.pause > 0 ? [{ ...question, pause: 0 }] : []),
  ...(question.stopAfter === undefined ? [] : [{ ...question, stopAfter: undefined }])
]

const smaller = ({ groups = [], people }: LivePlan): ReadonlyArray<LivePlan> => [
  ...smallerLists(people, 1).map((people) => ({ people, groups })),
  ...withSmaller(people, (questions) => [
    ...smallerLists(questions, 1),
    ...withSmaller(questions, smallerQuestions)
  ]).map((people) => ({ people, groups })),
  ...smallerLists(groups).map((groups) => ({ people, groups }))
]

/** The answer to a question. Each word has the question and its position. */
export const answerOf = ({ text, words }: Question): string =>
  Array.from({ length: words }, (_, index) => `${text}w${index}`).join(" ")

class Broken extends Schema.TaggedError<Broken>()("Broken", {}) {}

const bot = ({ people }: LivePlan, host: Host) => {
  const questions = new Map(people.flat().map((question) => [question.text, question] as const))
  const { process, strikes, world } = host
  const onMessage = Handler.on("message_created", (update) => {
    const question = questions.get(Update.textOf(update) ?? "")
    if (question === undefined) return undefined
    const answer = answerOf(question)
    const rest = (said: string) =>
      Stream.fromIterable(answer.slice(said.length).match(/\s*\S+/g) ?? []).pipe(
        Stream.tap(() => Effect.sleep(world.dice.int(question.pause + 1))),
        Stream.tap(() =>
          // A long answer would otherwise fail in each attempt.
          world.dice.chance(0.05) && strikes("handler", process, question.text) ? new Broken() : Effect.void
        ),
        Stream.rechunk(1)
      )
    return LiveMessage.reply(update, question.continues ? rest : rest(""), {
      format: "plain",
      keyboard: Keyboard.make([LiveMessage.stopButton("Stop")])
    })
  })
  const handler = Handler.first(LiveMessage.onStop, onMessage)
  return Bot.run(recordedHandler(host, handler), { ...host.runOptions, timeout: "20 minutes" })
}

const people = ({ groups = [], people }: LivePlan, simulation: Simulation) =>
  Effect.forEach(
    people,
    Effect.fnUntraced(function* (questions, index) {
      const person = yield* Emulator.user(`Person ${index}`)
      const { chat_id } = groups.includes(index)
        ? yield* Emulator.chat({ owner: person, bot: { admin: true } })
        : yield* person.start()
      if (groups.includes(index)) simulation.owners.set(String(chat_id), person)
      for (const { stopAfter, text, wait } of questions) {
        yield* Effect.sleep(wait)
        yield* sayIn(simulation, person, chat_id, text)
        if (stopAfter === undefined) continue
        // An answer whose first text is deleted has no words.
        const isText = (shown: string) => shown.startsWith(`${text}w0`) || (groups.includes(index) && shown === failure)
        const message = yield* waitForText(person, isText)
        yield* Effect.sleep(stopAfter)
        // The answer may be complete, and then it has no button.
        yield* Effect.exit(press(simulation, person, message, "Stop", chat_id))
      }
    }),
    { concurrency: "unbounded", discard: true }
  )

export const live: Program<LivePlan> = { plan, smaller, bot, people, audit: auditLive }
