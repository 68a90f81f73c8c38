import { Bot, type BotApi, Command, Conversation, Handler, Inbox, Update } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type * as places from "../inbox/places.ts"
import { layerBot } from "../inbox/traffic.ts"

/** A conversation with a number of questions, each of which is answered by a text. */
export const makeForm = (questions: number) =>
  Conversation.make(
    "form",
    { of: "userInChat" },
    Effect.fn(function* (talk) {
      const answers: Array<string> = []
      for (let index = 1; index <= questions; index++) {
        answers.push(yield* talk.ask(`question ${index}`, { say: questionOf(index) }))
      }
      yield* talk.say(`Thank you for ${answers.length} answers.`)
    })
  )

export const questionOf = (index: number): string => `Question ${index}?`

export const answerOf = (index: number): string => `The answer to question ${index}`

export const botOf = (form: ReturnType<typeof makeForm>) => Handler.first(Command.make("begin").on(form.start), form)

/** A text that a user has written in the dialog with the bot. */
const written = (user_id: number, at: number, text: string): Inbox.Received => {
  const json = JSON.stringify({
    update_type: "message_created",
    timestamp: at,
    message: {
      sender: { user_id, first_name: "Ann", is_bot: false, last_activity_time: at },
      recipient: { chat_id: 1_000_000 + user_id, chat_type: "dialog", user_id: 7 },
      timestamp: at,
      body: { mid: `mid.${user_id}.${at}`, seq: at, text }
    },
    user_locale: "en"
  })
  return { decoded: Update.parse(json), text: json }
}

/** Users write a text. Returns when a bot that runs has handled all of them. */
const writeAll = Effect.fnUntraced(function* (users: number, at: number, text: string, first = 1) {
  const inbox = yield* Inbox.Inbox
  yield* inbox.receive(Array.from({ length: users }, (_, index) => written(first + index, at, text)))
  yield* Effect.repeat(Effect.delay(inbox.stats, "10 millis"), { while: ({ queued }) => queued > 0 })
})

/** Runs the bot of a form in a place. `write` lets a number of users write a text. */
export const runForm = (
  place: places.Place,
  form: ReturnType<typeof makeForm>,
  api: Layer.Layer<BotApi.BotApi, unknown>
) => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(layerBot(place, { capacity: 1_000_000 }), api))
  runtime.runFork(Bot.run(botOf(form)))
  return {
    runtime,
    write: (...args: Parameters<typeof writeAll>) => runtime.runPromise(writeAll(...args))
  }
}
