/** What must have happened after random handlers. */
import type { Recording, Violation } from "../../auditor/recording.ts"
import { sentMessage, subjectOf } from "../../auditor/subjects.ts"
import { type Event, ofType } from "../../world/history.ts"
import type { ChatPlan, HandlersPlan, Message } from "./plan.ts"
import { nameOf, type Operation } from "./operations.ts"

/** What is counted: messages that the platform created, keys of calls, and timers that were handled. */
interface Facts {
  /** Number of messages of each text. */
  readonly sent: ReadonlyMap<string, number>
  /** Number of messages of each beginning, for texts that vary. */
  readonly named: ReadonlyMap<string, number>
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>
  readonly finals: ReadonlySet<string>
  /** When the first handler of a message began, and when the first handler of a timer did. */
  readonly began: ReadonlyMap<string, number>
  readonly isFinished: (subject: string) => boolean
}

const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)

const factsOf = ({ ending, events }: Recording): Facts => {
  const sent = new Map<string, number>()
  const named = new Map<string, number>()
  for (const { answer, method, path, status } of ofType(events, "executed")) {
    if (method !== "POST" || !path.startsWith("/messages?") || status !== 200) continue
    const message = sentMessage(answer)
    if (message === undefined) continue
    count(sent, message.text)
    const varying = / at \d+ \d+$/.exec(message.text)
    if (varying !== null) count(named, message.text.slice(0, varying.index))
  }
  const keys = new Map<string, Set<string>>()
  for (const { subject, value, what } of ofType(events, "noted")) {
    if (what === "charged") keys.set(subject, (keys.get(subject) ?? new Set()).add(value))
  }
  const began = new Map<string, number>()
  for (const { at, subject } of ofType(events, "began")) if (!began.has(subject)) began.set(subject, at)
  const dead = new Set(ending.deadLetters.map(({ text }) => subjectOf(text)))
  const isFinished = (subject: string) => !dead.has(subject)
  return { sent, named, keys, finals: new Set(ending.messages.map(({ text }) => text)), began, isFinished }
}

interface Context {
  readonly facts: Facts
  readonly chat: ChatPlan
  readonly name: string
  readonly message: Message
  readonly violate: (rule: string, detail: string) => void
}

/** A message has to be there `count` times, or more often where the bot cannot look for it. */
const expectSent = ({ chat, facts, violate }: Context, text: string, times = 1, sent = facts.sent): void => {
  const actual = sent.get(text) ?? 0
  if (actual < times) violate("every message of a handler arrives", `${text}: ${actual} of ${times}`)
  if (actual > times && chat.type !== "unreadable") {
    violate("no message of a handler arrives more often", `${text}: ${actual} instead of ${times}`)
  }
}

const expectAtMostOnce = ({ chat, facts, violate }: Context, text: string): void => {
  const actual = facts.sent.get(text) ?? 0
  if (actual > 1 && chat.type !== "unreadable")
    violate("no message of a handler arrives more often", `${text}: ${actual}`)
}

const expectKey = ({ facts, violate }: Context, subject: string): void => {
  const { size } = facts.keys.get(subject) ?? new Set()
  if (size !== 1) violate("each step has one key", `${subject}: ${size}`)
}

const expectFired = (context: Context, id: string, millis: number): void => {
  const { facts, message, violate } = context
  if (!facts.isFinished(`timer later ${id}`)) return
  const set = facts.began.get(message.text)
  const fired = facts.began.get(`timer later ${id}`)
  if (fired === undefined) violate("every timer is handled", id)
  else if (set !== undefined && fired < set + millis)
    violate("no timer is early", `${id}: ${fired - set} of ${millis} ms`)
  expectSent(context, nameOf({ text: `fired ${id}`, index: 0 }))
}

const expectOperation = (operation: Operation, context: Context): void => {
  const { facts, name, violate } = context
  switch (operation.type) {
    case "send":
    case "retry":
      return expectSent(context, name)
    case "sendBoth":
      expectSent(context, `${name}a`)
      return expectSent(context, `${name}b`)
    case "sendEqual":
      return expectSent(context, name, 2)
    case "sendNamed":
      return expectSent(context, name, 1, facts.named)
    case "timeout":
      expectAtMostOnce(context, `${name}a`)
      return expectSent(context, `${name}b`)
    case "race":
      return expectAtMostOnce(context, name)
    case "edit":
      expectSent(context, `${name} first`)
      if (!facts.finals.has(`${name} last`)) violate("an edited message has its last text", name)
      return
    case "step":
      return expectKey(context, name)
    case "steps":
      expectKey(context, `${name}a`)
      return expectKey(context, `${name}b`)
    case "timer":
      return expectFired(context, name, operation.millis)
    case "timerAgain":
      if (facts.began.has(`timer later ${name} early`)) violate("a timer that is set again is handled once", name)
      return expectFired(context, name, operation.millis + 10_000)
    case "timerCancelled":
      if (facts.began.has(`timer later ${name}`)) violate("a cancelled timer is not handled", name)
      return
    case "count":
    case "sleep":
    case "fail":
      return
  }
}

/** The result of a step is recorded before the handler has it. */
const expectReceipts = ({ events }: Recording, violate: Context["violate"]): void => {
  const received = new Set<string>()
  for (const { subject, what } of ofType(events, "noted")) {
    if (what === "received") received.add(subject)
    else if (what === "charged" && received.has(subject)) violate("a step with a result does not run again", subject)
  }
}

/** The count of all chats is the number of operations of acknowledged updates that have counted. */
const expectCount = (
  { chats }: HandlersPlan,
  { ending }: Recording,
  facts: Facts,
  violate: Context["violate"]
): void => {
  const expected = chats
    .flatMap(({ messages }) => messages.filter(({ text }) => facts.isFinished(text)))
    .reduce((sum, { operations }) => sum + operations.filter(({ type }) => type === "count").length, 0)
  const actual = Number(ending.states.find(({ name }) => name === "count")?.value ?? 0)
  if (actual !== expected) violate("the state is what the acknowledged updates made of it", `${actual} of ${expected}`)
}

/** The messages of a chat in the order in which they were said and stored: the state has to be the same. */
const expectStates = (
  { chats }: HandlersPlan,
  { ending, events }: Recording,
  facts: Facts,
  violate: Context["violate"]
): void => {
  const states = new Map(ending.states.filter(({ name }) => name === "seen").map(({ scope, value }) => [scope, value]))
  const said = ofType(events, "said")
  for (const { messages } of chats) {
    const chat = said.find(({ subject }) => subject === messages[0].text)?.chat
    const texts = messages.map(({ text }) => text).filter(facts.isFinished)
    const state = states.get(`chat:${chat}`) ?? []
    // Deliveries can arrive in another order than they were said.
    const order = orderOf(events, texts)
    if (JSON.stringify(state) !== JSON.stringify(order)) {
      violate(
        "the state is what the acknowledged updates made of it",
        `${JSON.stringify(state)} of ${JSON.stringify(order)}`
      )
    }
  }
}

/** The order in which texts were stored. */
const orderOf = (events: ReadonlyArray<Event>, texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const stored = ofType(events, "store").flatMap(({ operation, request }) =>
    operation === "enqueue" ? (request as { readonly updates: ReadonlyArray<{ readonly text: string }> }).updates : []
  )
  const wanted = new Set(texts)
  return [...new Set(stored.map(({ text }) => subjectOf(text)))].filter((text) => wanted.has(text))
}

export const auditHandlers = (plan: HandlersPlan, recording: Recording): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const violate = (rule: string, detail: string) => void violations.push({ rule, detail })
  const facts = factsOf(recording)
  for (const chat of plan.chats) {
    for (const message of chat.messages) {
      if (!facts.isFinished(message.text)) continue
      for (const [index, operation] of message.operations.entries()) {
        expectOperation(operation, { facts, chat, message, violate, name: nameOf({ text: message.text, index }) })
      }
    }
  }
  expectStates(plan, recording, facts, violate)
  expectReceipts(recording, violate)
  expectCount(plan, recording, facts, violate)
  return violations
}
