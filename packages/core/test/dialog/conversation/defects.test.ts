import { Command, Conversation, Handler, Inbox } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { deadLetters, during, layer, play, texts, writes } from "../../support/conversations.ts"

const of = { of: "userInChat" } as const

const choices = { r: "Red" }

const none: { readonly [tag: string]: Conversation.Answer<string> } = {}

const plays = [
  {
    problem: "a name that is used twice",
    played: play(
      Conversation.make(
        "form",
        of,
        Effect.fn(function* (talk) {
          yield* talk.ask("name", { say: "Name?" })
          yield* talk.ask("name", { say: "Name?" })
        })
      ),
      "Ann"
    ),
    said: ["Name?"],
    error: 'The conversation "form" uses the name "name" twice. Each question, step and sleep needs a name of its own.'
  },
  {
    problem: "a part whose name is used twice",
    played: play(
      Conversation.make("form", of, (talk) => {
        const part = talk.run(
          "address",
          Conversation.make("address", of, (talk) => talk.ask("street", { say: "Street?" }))
        )
        return Effect.andThen(part, part)
      }),
      "Hill Road"
    ),
    said: ["Street?"],
    error: 'The conversation "form" uses the name "address" twice.'
  },
  {
    problem: "an empty name, whose buttons could not be told apart",
    played: play(Conversation.make("form", of, (talk) => talk.confirm("", { say: "Sure?" }))),
    said: [],
    error: 'The conversation "form" uses an empty name.'
  },
  {
    problem: "a question in a step",
    played: play(
      Conversation.make("form", of, (talk) =>
        talk.step("save", Schema.String, Effect.orDie(talk.ask("name", { say: "Name?" })))
      )
    ),
    said: [],
    error: 'The conversation "form" cannot ask "name" in the step "save", which has to complete in one run.'
  },
  {
    problem: "a sleep in a step",
    played: play(
      Conversation.make("form", of, (talk) => talk.step("save", Schema.Void, talk.sleep("oven", "1 minute")))
    ),
    said: [],
    error: 'The conversation "form" cannot sleep ("oven") in the step "save", which has to complete in one run.'
  },
  {
    problem: "to go back in a step",
    played: play(
      Conversation.make("form", of, (talk) =>
        Effect.andThen(talk.ask("name", { say: "Name?" }), talk.step("save", Schema.Void, talk.back()))
      ),
      "Ann"
    ),
    said: ["Name?"],
    error: 'The conversation "form" cannot go back in the step "save", which has to complete in one run.'
  },
  {
    problem: "a question in `otherwise`",
    played: play(
      Conversation.make("form", of, (talk) =>
        talk.choose("color", {
          say: "Which color?",
          choices,
          otherwise: () => Effect.orDie(talk.ask("why", { say: "Why?" }))
        })
      ),
      "None"
    ),
    said: ["Which color?"],
    error:
      'The conversation "form" cannot ask "why" in `otherwise` of the question "color", which has to complete in one run.'
  },
  {
    problem: "to go back in `otherwise`",
    played: play(
      Conversation.make("form", of, (talk) =>
        talk.choose("color", { say: "Which color?", choices, otherwise: () => talk.back() })
      ),
      "None"
    ),
    said: ["Which color?"],
    error:
      'The conversation "form" cannot go back in `otherwise` of the question "color", which has to complete in one run.'
  },
  {
    problem: "a sleep without an end",
    played: play(Conversation.make("form", of, (talk) => talk.sleep("winter", Infinity))),
    said: [],
    error: 'The sleep "winter" of the conversation "form" is infinite.'
  },
  {
    problem: "a question that nobody may answer",
    played: play(Conversation.make("form", { of: "chat" }, (talk) => talk.ask("name", { say: "Name?", from: [] }))),
    said: [],
    error:
      'The question "name" of the conversation "form" cannot be answered: its `from` is empty, so nobody may answer it.'
  },
  {
    problem: "a question without kinds of answers",
    played: play(Conversation.make("form", of, (talk) => talk.any("name", { say: "Name?", answers: none }))),
    said: [],
    error: 'The question "name" of the conversation "form" cannot be answered: it accepts no kind of answer.'
  },
  {
    problem: "a body that always goes back",
    played: play(Conversation.make("form", of, (talk) => talk.back())),
    said: [],
    error: 'The body of the conversation "form" leads back to itself forever.'
  },
  {
    problem: "a value that is no effect",
    played: play(Conversation.make("form", of, (() => Promise.resolve()) as unknown as () => Effect.Effect<void>)),
    said: [],
    error: "Not a valid effect: [object Promise]"
  }
]

describe("a defect in the body of a conversation", () => {
  it.effect.each(plays)("is a defect that says so: $problem", ({ error, played, said }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* played, said)
      const dead = yield* deadLetters
      assert.strictEqual(dead.length, 1)
      assert.include(dead[0], error)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each(plays.slice(0, -1))("is not retried: $problem", ({ played }) =>
    Effect.gen(function* () {
      yield* played
      const [dead] = yield* Stream.runCollect(Inbox.deadLetters).pipe(Effect.provide(Inbox.layer()))
      assert.strictEqual(dead?.attempts, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("does not concern another conversation that a step or `otherwise` starts", () =>
    Effect.gen(function* () {
      const Help = Conversation.make("help", of, (talk) => talk.ask("problem", { say: "What is wrong?" }))
      const Form = Conversation.make("form", of, (talk) =>
        talk.choose("color", { say: "Which color?", choices, otherwise: Help.start })
      )
      const ann = yield* Emulator.user("Ann")
      const bot = Handler.first(Command.make("go").on(Form.start), Form, Help)
      yield* during(bot, Effect.andThen(writes(ann, "/go"), writes(ann, "None")))
      assert.deepStrictEqual(yield* texts(ann), ["Which color?", "What is wrong?"])
      assert.deepStrictEqual(yield* deadLetters, [])
    }).pipe(Effect.provide(layer))
  )
})
