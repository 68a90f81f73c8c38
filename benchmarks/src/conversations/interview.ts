import { Command, Conversation, Handler, Inbox, Update } from "@colloquy/core"
import * as Effect from "effect/Effect"
import { turns } from "./options.ts"

/** A conversation of several turns, whose messages say whose they are. */
const Interview = Conversation.make(
  "interview",
  { of: "userInChat", timeout: "1 day" },
  Effect.fn(function* (talk) {
    const answers: Array<string> = []
    for (let turn = 1; turn <= turns; turn++) {
      answers.push(yield* talk.ask(`question ${turn}`, { say: question(talk.user_id, turn) }))
    }
    yield* talk.say(result(talk.user_id, answers))
  })
)

export const bot = Handler.first(Command.make("begin").on(Interview.start), Interview.handler)

const question = (user: number, turn: number): string => `${user} question ${turn}`

const result = (user: number, answers: ReadonlyArray<string>): string => `${user} result: ${answers.join(", ")}`

const answer = (user: number, turn: number): string => `answer ${turn} of ${user}`

const indices = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** What the bot has to say to a user, in this order. */
const expected = (user: number): ReadonlyArray<string> => [
  ...indices(turns).map((turn) => question(user, turn)),
  result(
    user,
    indices(turns).map((turn) => answer(user, turn))
  )
]

/** How many messages the bot has to send. */
export const messages = (users: number): number => users * (turns + 1)

const received = (user_id: number, chat_id: number, at: number, text: string): Inbox.Received => {
  const json = JSON.stringify({
    update_type: "message_created",
    timestamp: at,
    message: {
      sender: { user_id, first_name: "Ann", is_bot: false },
      recipient: { chat_id, chat_type: "chat" },
      timestamp: at,
      body: { mid: `mid.${user_id}.${at}`, seq: at, text }
    }
  })
  return { decoded: Update.parse(json), text: json }
}

/** All users begin a conversation, and answer all questions. */
export const fill = (users: number, chats: ReadonlyArray<number>) =>
  Inbox.Inbox.use((inbox) =>
    Effect.forEach(
      indices(turns + 1),
      (turn) =>
        inbox.receive(
          indices(users).map((user) =>
            received(user, chats[user % chats.length], turn, turn === 1 ? "/begin" : answer(user, turn - 1))
          )
        ),
      { discard: true }
    )
  )

export interface Verdict {
  /** Answers that are not in the result of their conversation. */
  readonly lost: number
  /** Messages that stand in the chats more than once. */
  readonly doubled: number
}

/** Compares what stands in the chats with what the bot had to say. Throws if a chat contains something else. */
export const judge = (users: number, texts: ReadonlyArray<ReadonlyArray<string>>): Verdict => {
  let lost = 0
  let doubled = 0
  const counts = new Map<string, number>()
  for (const text of texts.flat()) counts.set(text, (counts.get(text) ?? 0) + 1)
  for (const user of indices(users)) {
    const all = expected(user)
    if (!counts.has(all[turns])) lost += turns
    for (const text of all) {
      doubled += Math.max(0, (counts.get(text) ?? 0) - 1)
      counts.delete(text)
    }
  }
  const [other] = counts.keys()
  if (other !== undefined) throw new Error(`A chat contains ${JSON.stringify(other)}, which nobody had to say`)
  return { lost, doubled }
}
