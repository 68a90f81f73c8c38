/**
 * A quiz for a group. The first member who presses the right button gets a point, a wrong press ends one's chance, and a question without
 * a right answer ends after 30 seconds. `/best` lists the best players of all groups. The test of this example runs in virtual time.
 */
import { Answers, Bot, Command, Handler, Keyboard, LongPolling, Messages, Payload, Scene, State } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Effect, Layer, Result, Schema } from "effect"

const questions = [
  { text: "What is the capital of Australia?", choices: ["Sydney", "Canberra", "Perth"], right: "Canberra" },
  { text: "How many legs does a spider have?", choices: ["Six", "Eight", "Ten"], right: "Eight" },
  { text: "Which metal is liquid at 20 degrees?", choices: ["Mercury", "Lead", "Tin"], right: "Mercury" }
]

const Player = State.make("player", Schema.Struct({ name: Schema.String, points: Schema.Int }), {
  of: "user",
  initial: () => ({ name: "", points: 0 }),
  sortBy: ({ points }) => points
})

const Choice = Payload.make("choice", Schema.String)

/** The message of the question, and the members who have pressed a wrong button. */
const Asking = Schema.Struct({ number: Schema.Int, mid: Schema.String, wrong: Schema.Array(Schema.Int) })
const unasked = (number: number): typeof Asking.Type => ({ number, mid: "", wrong: [] })

const Quiz = Scene.make(
  "quiz",
  { of: "chat", states: { asking: Asking } },
  {
    asking: {
      enter: Effect.fnUntraced(function* ({ data, end, stay, update }) {
        const question = questions[data.number]
        if (question === undefined) return yield* end
        const buttons = yield* Effect.forEach(question.choices, (choice) => Choice.button(choice, choice))
        const { body } = yield* Messages.reply(update, { text: question.text, attachments: [Keyboard.make(buttons)] })
        return yield* stay({ ...data, mid: body?.mid ?? "" })
      }),
      handler: ({ data, go, stay }) =>
        Choice.on(
          Effect.fnUntraced(function* (update, choice) {
            const { first_name, user_id } = update.callback.user
            const { right, text } = questions[data.number]!
            if (update.message?.body?.mid !== data.mid) return yield* Handler.notHandled
            if (data.wrong.includes(user_id)) return yield* Answers.answer(update, "You have had your chance.")
            if (choice !== right) {
              yield* stay({ ...data, wrong: [...data.wrong, user_id] })
              return yield* Answers.answer(update, "That is wrong.")
            }
            yield* Player.update(({ points }) => ({ name: first_name, points: points + 1 }))
            yield* go("asking", unasked(data.number + 1))
            const solved = `${text}\n${first_name} is right: ${right}.`
            return yield* Answers.answer(update, { message: { text: solved, attachments: [] } })
          })
        ),
      timeout: "30 seconds",
      onTimeout: Effect.fnUntraced(function* ({ data, go, update }) {
        yield* Messages.reply(update, `Nobody was right: ${questions[data.number]!.right}.`)
        yield* go("asking", unasked(data.number + 1))
      })
    }
  }
)

const best = Command.make("best", { description: "Shows the best players" }).on((update) =>
  Effect.flatMap(State.top(Player, { limit: 10 }), (players) => {
    const known = players.flatMap(({ value }) => (Result.isSuccess(value) ? [value.success] : []))
    const lines = known.map(({ name, points }) => `${name}: ${points}`)
    return Messages.reply(update, lines.join("\n") || "Nobody has points yet.")
  })
)

export const parts = Bot.make(
  Command.make("quiz", { description: "Starts a quiz" }).on(() => Quiz.go("asking", unasked(0))),
  best,
  Quiz,
  Choice.on((update) => Answers.answer(update, "This question is over.")),
  Handler.on("bot_started", (update) => Messages.reply(update, "Add me to a group, and send /quiz there."))
)

export const bot = Bot.run(parts, { publishCommands: true })

if (import.meta.main) {
  NodeMain.runMain(Effect.provide(bot, LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))))
}
