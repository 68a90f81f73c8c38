/** A conversation, the changes of its code that may be deployed while the conversation waits, and its user. */
import { type BotApi, Command, Conversation, Handler } from "@colloquy/core"
import type { Person } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { buttonsOf, sent, textOf, writes } from "./conversations.ts"

type Part = (talk: Conversation.Talk<never>) => Effect.Effect<unknown, unknown, unknown>

/** The code of a conversation: its parts by their keys, in their order, and its options. */
export interface Code {
  readonly parts: ReadonlyArray<readonly [key: string, part: Part]>
  readonly options?: Partial<Conversation.Options>
}

const sizes = { s: "Small", m: "Medium", l: "Large" }

const toppings = { ham: "Ham", olives: "Olives", cheese: "Cheese" }

const address = Schema.String.check(Schema.isPattern(/\d/, { message: "needs a number" }))

/** The steps that have run. */
export const stepsRun: Array<string> = []

const runStep = <A>(name: string, result: A) =>
  Effect.sync(() => {
    stepsRun.push(name)
    return result
  })

const parts = {
  hello: (talk) => talk.say("Welcome."),
  name: (talk) => talk.ask("name", { say: "What is your name?" }),
  size: (talk) => talk.choose("size", { say: "Which size?", choices: sizes }),
  toppings: (talk) => talk.choose("toppings", { say: "Which toppings?", choices: toppings, several: true, min: 1 }),
  address: (talk) => talk.ask("address", { say: "Where to?", read: address, timeout: "1 day" }),
  price: (talk) => talk.step("price", Schema.Int, runStep("price", 12)),
  rest: (talk) => talk.sleep("rest", "20 minutes"),
  agree: (talk) => talk.confirm("agree", { say: "Do you agree?", timeout: "1 day" }),
  bye: (talk) => talk.say("On its way.")
} satisfies Readonly<Record<string, Part>>

/** What ran before each of the mutations. */
export const original: Code = { parts: Object.entries(parts) }

/** The parts that wait for something, in the order in which the original reaches them. */
export const waits = ["name", "size", "toppings", "address", "rest", "agree"]

const replace = (key: keyof typeof parts, part: Part): Code => ({
  parts: original.parts.map((entry) => (entry[0] === key ? [key, part] : entry))
})

const insert = (before: keyof typeof parts, part: Part): Code => ({
  parts: original.parts.flatMap((entry) => (entry[0] === before ? [["new", part] as const, entry] : [entry]))
})

const remove = (...keys: ReadonlyArray<keyof typeof parts>): Code => ({
  parts: original.parts.filter(([key]) => !keys.some((removed) => removed === key))
})

const newVersion = (onVersion: Conversation.Policy): Code => ({ ...original, options: { version: 2, onVersion } })

const isOf =
  (...keys: ReadonlyArray<string>) =>
  ([key]: Code["parts"][number]) =>
    keys.includes(key)

/** Changes of the code, any of which may be deployed while the conversation waits anywhere. */
export const mutations: Readonly<Record<string, Code>> = {
  "the text of a question": replace("size", (talk) => talk.choose("size", { say: "How big?", choices: sizes })),
  "a message added": insert("size", (talk) => talk.say("Now to the pizza.")),
  "a message removed": remove("hello"),
  "a question added at the beginning": insert("name", (talk) =>
    talk.ask("email", { say: "What is your email address?" })
  ),
  "a question with buttons added in the middle": insert("address", (talk) =>
    talk.choose("drink", { say: "Anything to drink?", choices: { water: "Water", juice: "Juice" } })
  ),
  "a question added at the end": insert("bye", (talk) =>
    talk.ask("tip", { say: "A tip?", read: Schema.FiniteFromString })
  ),
  "a question removed": remove("size"),
  "all questions but the first removed": remove("size", "toppings", "address", "rest", "agree"),
  "all questions removed": remove("name", "size", "toppings", "address", "rest", "agree"),
  "a question renamed": replace("address", (talk) => talk.ask("street", { say: "Where to?", read: address })),
  "two questions exchanged": {
    parts: [
      ...original.parts.filter(isOf("hello", "toppings", "size", "name")).toReversed(),
      ...original.parts.filter(isOf("address", "price", "rest", "agree", "bye"))
    ]
  },
  "another type, with a migration": replace("name", (talk) =>
    talk.ask("name", {
      say: "Which number do you have?",
      read: Schema.FiniteFromString,
      migrate: () => 1
    })
  ),
  "another type, without a migration": replace("name", (talk) =>
    talk.ask("name", { say: "Which number do you have?", read: Schema.FiniteFromString })
  ),
  "a text that became a choice": replace("address", (talk) =>
    talk.choose("address", { say: "Where to?", choices: { home: "Home", work: "Work" } })
  ),
  "a choice that became a text": replace("size", (talk) => talk.ask("size", { say: "Which size?" })),
  "one choice that became several": replace("size", (talk) =>
    talk.choose("size", { say: "Which sizes?", choices: sizes, several: true, min: 1 })
  ),
  "several choices that became one": replace("toppings", (talk) =>
    talk.choose("toppings", { say: "Which topping?", choices: toppings })
  ),
  "buttons removed and added": replace("size", (talk) =>
    talk.choose("size", { say: "Which size?", choices: { xl: "Huge", l: "Large" } })
  ),
  "a text that became an attachment": replace("address", (talk) =>
    talk.location("address", { say: "Where to? Send a location." })
  ),
  "another type of the result of a step": replace("price", (talk) =>
    talk.step("price", Schema.Struct({ euros: Schema.Int }), runStep("price", { euros: 12 }))
  ),
  "a step removed": remove("price"),
  "a step that became a question": replace("price", (talk) => talk.ask("price", { say: "What does it cost?" })),
  "a question that became a sleep": replace("address", (talk) => talk.sleep("address", "5 minutes")),
  "a sleep that became a question": replace("rest", (talk) => talk.ask("rest", { say: "Are you still there?" })),
  "a sleep removed": remove("rest"),
  "timeouts removed": {
    parts: original.parts.map(([key, part]) =>
      key === "address"
        ? [key, (talk) => talk.ask("address", { say: "Where to?", read: address })]
        : key === "agree"
          ? [key, (talk) => talk.confirm("agree", { say: "Do you agree?" })]
          : [key, part]
    )
  },
  "a new version that goes on": newVersion("continue"),
  "a new version that begins again": newVersion("restart"),
  "a new version that ends older conversations": newVersion("end")
}

/** The conversation with some code. */
export const make = ({ options, parts }: Code) =>
  Conversation.make("order", { of: "userInChat", ...options }, (talk) =>
    Effect.forEach(parts, ([, part]) => part(talk as never), { discard: true })
  )

export const botOf = (code: Code) => {
  const order = make(code)
  return Handler.first(Command.make("order").on(order.start), order) as Handler.Handler<unknown, BotApi.BotApi>
}

const answers = ["Long Lane 7", "12"]

/** Does what a user would do next, after the last message of the bot. */
export const act = Effect.fnUntraced(function* (person: Person.Person, action: number) {
  const last = (yield* sent(person)).at(-1)
  if (last !== undefined && textOf(last)?.includes("location") === true) {
    return yield* writes(person, "", { attachments: [{ type: "location", latitude: 52.5, longitude: 13.4 }] })
  }
  const labels = last === undefined ? [] : buttonsOf(last)
  if (last === undefined || labels.length === 0) return yield* writes(person, answers[action % answers.length]!)
  const isChosen = labels.some((label) => label.startsWith("✓"))
  yield* person.press(last, isChosen ? "Done" : labels[0]!)
  yield* TestClock.adjust("1 second")
})
