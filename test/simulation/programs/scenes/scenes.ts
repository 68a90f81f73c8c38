/** Scenes with three states, a timeout, and messages that change them. */
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Messages from "@colloquy/core/endpoints/Messages"
import * as Pattern from "@colloquy/core/bot/Pattern"
import * as Scene from "@colloquy/core/dialog/Scene"
import * as Bot from "@colloquy/core/bot/Bot"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sentIn } from "../../auditor/messages.ts"
import { subjectOf } from "../../auditor/subjects.ts"
import type { Recording, Violation } from "../../auditor/recording.ts"
import type { Simulation } from "../../simulation.ts"
import type { Dice } from "../../../../packages/testing/src/simulation/internal/world/dice.ts"
import { type Event, ofType } from "../../history.ts"
import { recordedHandler } from "../instrument.ts"
import { say, waitFor } from "../people.ts"
import type { Host, Program } from "../program.ts"
import { smallerLists, withSmaller } from "../smaller.ts"

/** What a person does in the scene. `wait` waits until the state ends by its timeout. */
type Move = "next" | "stay" | "ask" | "end" | "wait"

export interface ScenesPlan {
  readonly people: ReadonlyArray<ReadonlyArray<Move>>
  /** Timeout of the state `last`, in minutes. */
  readonly timeout: number
  /** Maximum time that a person thinks, in milliseconds. */
  readonly think: number
}

const plan = (dice: Dice): ScenesPlan => ({
  people: Array.from({ length: 1 + dice.int(4) }, () =>
    Array.from({ length: 1 + dice.int(12) }, () => dice.pick<Move>(["next", "next", "stay", "ask", "end", "wait"]))
  ),
  timeout: 1 + dice.int(30),
  think: dice.pick([0, 2000, 20_000, 100_000])
})

const smaller = (plan: ScenesPlan): ReadonlyArray<ScenesPlan> => [
  ...smallerLists(plan.people, 1).map((people) => ({ ...plan, people })),
  ...withSmaller(plan.people, (moves) => smallerLists(moves, 1)).map((people) => ({ ...plan, people })),
  ...(plan.think > 0 ? [{ ...plan, think: 0 }] : [])
]

/** Each message of a person and the answer of the bot have the number of the person and of the move. */
const textOf = (person: number, index: number, move: Move): string => `${move} s${person}-${index}`

interface At {
  readonly state: "none" | "open" | "last"
  readonly count: number
}

interface Answer extends At {
  /** What the bot says. */
  readonly answer: string
}

const outside: At = { state: "none", count: 0 }

const timeoutOf = ({ count }: At): string => `timeout ${count}`

/** The scene without faults: what the bot answers to each move. */
const follow = (before: At, move: Move, id: string): Answer => {
  const { count, state } = before
  if (move === "wait") return state === "last" ? { ...outside, answer: timeoutOf(before) } : { ...before, answer: "" }
  if (state === "none") return { answer: `${id} open 0`, state: "open", count: 0 }
  switch (move) {
    case "next":
      return { answer: `${id} last ${count + 1}`, state: "last", count: count + 1 }
    case "stay":
      return { answer: `${id} stays ${count + 1}`, state, count: count + 1 }
    case "ask":
      return { answer: `${id} is ${state} ${count}`, state, count }
    case "end":
      return { answer: `${id} ends ${count}`, state: "none", count: 0 }
  }
}

const idOf = (text: string): string => text.slice(text.indexOf(" ") + 1)

const bot = ({ timeout }: ScenesPlan, host: Host) => {
  const data = Schema.Struct({ count: Schema.Int, id: Schema.String })
  const Game = Scene.make(
    "game",
    { of: "userInChat", version: host.version, states: { open: data, last: data } },
    {
      open: {
        enter: ({ data: { id }, update }) => Messages.reply(update, `${id} open 0`),
        handler: ({ data, end, go, stay }) => movesOf("open", data, { end, stay, next: (data) => go("last", data) })
      },
      last: {
        enter: ({ data: { count, id }, update }) => Messages.reply(update, `${id} last ${count}`),
        handler: ({ data, end, go, stay }) => movesOf("last", data, { end, stay, next: (data) => go("last", data) }),
        timeout: `${timeout} minutes`,
        onTimeout: ({ data: { count }, update }) => Messages.reply(update, `timeout ${count}`)
      }
    }
  )
  const start = Pattern.make(/^\w+ s\d+-\d+$/).on((_, [text]) => Game.go("open", { count: 0, id: idOf(text) }))
  return Bot.run(recordedHandler(host, Handler.first(Game, start)), host.runOptions)
}

interface Data {
  readonly count: number
  readonly id: string
}

/** The handlers of the moves in a state. */
const movesOf = <A, B, C>(
  state: string,
  { count }: Data,
  change: {
    readonly end: Effect.Effect<A>
    readonly stay: (data: Data) => Effect.Effect<B>
    readonly next: (data: Data) => Effect.Effect<C>
  }
) =>
  Handler.first(
    Pattern.make(/^next (.+)$/).on((_, [, id]) => change.next({ count: count + 1, id })),
    Pattern.make(/^stay (.+)$/).on((update, [, id]) =>
      Effect.andThen(Messages.reply(update, `${id} stays ${count + 1}`), change.stay({ count: count + 1, id }))
    ),
    Pattern.make(/^ask (.+)$/).on((update, [, id]) => Messages.reply(update, `${id} is ${state} ${count}`)),
    Pattern.make(/^end (.+)$/).on((update, [, id]) =>
      Effect.andThen(Messages.reply(update, `${id} ends ${count}`), change.end)
    )
  )

const people = ({ people, think }: ScenesPlan, simulation: Simulation) =>
  Effect.forEach(
    people,
    Effect.fnUntraced(function* (moves, index) {
      const person = yield* Emulator.user(`Person ${index}`)
      yield* person.start()
      let at = outside
      for (const [number, move] of moves.entries()) {
        const id = `s${index}-${number}`
        yield* Effect.sleep(simulation.world.dice.int(think + 1))
        const inTime = follow(at, move, id)
        // The state may have ended by its timeout before the message reached the bot.
        const late = at.state === "last" && move !== "wait" ? follow(outside, move, id) : inTime
        const ended = timeoutOf(at)
        at = inTime
        if (move !== "wait") yield* say(simulation, person, textOf(index, number, move))
        if (inTime.answer === "") continue
        const { body } = yield* waitFor(person, (text) => text === inTime.answer || text === late.answer)
        if (body?.text === inTime.answer) continue
        at = late
        yield* waitFor(person, (text) => text === ended)
      }
    }),
    { concurrency: "unbounded", discard: true }
  )

/** When messages reached the store, by what they say. */
const queuedIn = (events: ReadonlyArray<Event>): ReadonlyMap<string, number> => {
  const times = new Map<string, number>()
  for (const { at, operation, request } of ofType(events, "store")) {
    if (operation !== "enqueue") continue
    for (const { text } of (request as { readonly updates: ReadonlyArray<{ readonly text: string }> }).updates) {
      const subject = subjectOf(text)
      if (!times.has(subject)) times.set(subject, at)
    }
  }
  return times
}

/** What the bot says in a chat. A state ends by its timeout before a message only if the message came after the timeout. */
const auditChat = (
  actual: ReturnType<typeof sentIn>,
  moves: ReadonlyArray<{ readonly move: Move; readonly id: string; readonly queuedAt: number }>,
  timeout: number
): ReadonlyArray<Violation> => {
  const expected: Array<string> = []
  const early: Array<Violation> = []
  let at = outside
  let due = 0
  const expectTimeout = () => {
    const sent = actual[expected.length]
    if (sent !== undefined && sent.at < due) {
      early.push({ rule: "timeouts are not early", detail: `${sent.text} at ${sent.at} ms instead of ${due} ms` })
    }
    expected.push(timeoutOf(at))
    at = outside
  }
  for (const { id, move, queuedAt } of moves) {
    const isLate = queuedAt >= due && actual[expected.length]?.text === timeoutOf(at)
    if (at.state === "last" && (move === "wait" || isLate)) expectTimeout()
    if (move === "wait") continue
    const next = follow(at, move, id)
    if (move === "next") due = (actual[expected.length]?.at ?? 0) + timeout
    expected.push(next.answer)
    at = next
  }
  if (at.state === "last") expectTimeout()
  const texts = actual.map(({ text }) => text)
  const detail = `${JSON.stringify(texts)} instead of ${JSON.stringify(expected)}`
  return texts.join("\n") === expected.join("\n") ? early : [{ rule: "a scene is as without faults", detail }]
}

const audit = ({ people, timeout }: ScenesPlan, { events }: Recording): ReadonlyArray<Violation> => {
  const sent = sentIn(events)
  const said = ofType(events, "said")
  const queued = queuedIn(events)
  return people.flatMap((moves, person) => {
    const chat = said.find(({ subject }) => idOf(subject).startsWith(`s${person}-`))?.chat
    return auditChat(
      sent.filter((message) => message.chat === chat),
      moves.map((move, index) => {
        const queuedAt = queued.get(textOf(person, index, move)) ?? 0
        return { move, id: `s${person}-${index}`, queuedAt }
      }),
      timeout * 60_000
    )
  })
}

export const scenes: Program<ScenesPlan> = { plan, smaller, bot, people, audit }
