/** What must have happened after random handlers. */
import type { Recording, Violation } from "../../auditor/recording.ts"
import { type Ledger, ledgerOf } from "../../auditor/ledger.ts"
import { removedBy, sentIn } from "../../auditor/messages.ts"
import { isRecord, subjectOf } from "../../auditor/subjects.ts"
import { ofType } from "../../history.ts"
import type { ChatPlan, HandlersPlan, Message } from "./plan.ts"
import { nameOf, type Operation } from "./operations.ts"

/** What is counted: messages that the platform created, keys of calls, and timers that were handled. */
interface Facts {
  /** Number of messages of each text. */
  readonly sent: ReadonlyMap<string, number>
  /** Number of messages of each beginning, for texts that vary. */
  readonly named: ReadonlyMap<string, number>
  /** Number of messages of each text or beginning that people have deleted. */
  readonly removed: ReadonlyMap<string, number>
  /** Operations that did not find their message any more. */
  readonly gone: ReadonlySet<string>
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>
  readonly finals: ReadonlySet<string>
  /** When the first handler of a message began, and when the first handler of a timer did. */
  readonly began: ReadonlyMap<string, number>
  readonly isFinished: (subject: string) => boolean
  readonly ledger: Ledger
}

const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)

const factsOf = ({ ending, events }: Recording): Facts => {
  const sent = new Map<string, number>()
  const named = new Map<string, number>()
  const removed = new Map<string, number>()
  const deleted = removedBy(events)
  for (const { mid, text } of sentIn(events)) {
    const varying = / at \d+ \d+$/.exec(text)
    const beginning = varying === null ? undefined : text.slice(0, varying.index)
    count(sent, text)
    if (beginning !== undefined) count(named, beginning)
    if (deleted.has(mid)) count(removed, beginning ?? text)
  }
  const keys = new Map<string, Set<string>>()
  const gone = new Set<string>()
  for (const { subject, value, what } of ofType(events, "noted")) {
    if (what === "gone") gone.add(subject)
    if (what === "charged") keys.set(subject, (keys.get(subject) ?? new Set()).add(value))
  }
  const began = new Map<string, number>()
  for (const { at, subject } of ofType(events, "began")) if (!began.has(subject)) began.set(subject, at)
  const dead = new Set(ending.deadLetters.map(({ text }) => subjectOf(text)))
  const ledger = ledgerOf(events)
  const isFinished = (subject: string) => !dead.has(subject) && !ledger.lost.has(subject)
  return {
    sent,
    named,
    removed,
    gone,
    keys,
    finals: new Set(ending.messages.map(({ text }) => text)),
    began,
    isFinished,
    ledger
  }
}

interface Context {
  readonly facts: Facts
  readonly chat: ChatPlan
  readonly name: string
  readonly message: Message
  readonly violate: (rule: string, detail: string) => void
}

/** Whether the store may have lost the journal of a message, or of one of its timers. */
const isShaken = ({ facts, message }: Context): boolean =>
  facts.ledger.shaken.has(message.text) ||
  [...facts.ledger.shaken].some((subject) => subject.startsWith(`timer later ${message.text}.`))

/** A message that somebody has deleted before the bot has looked for it is sent again. */
const isTooMuch = (context: Context, text: string, actual: number, times: number): boolean =>
  actual > times + (context.facts.removed.get(text) ?? 0) && context.chat.type !== "unreadable" && !isShaken(context)

/** A message has to be there `count` times, or more often where the bot cannot look for it. */
const expectSent = (context: Context, text: string, times = 1, sent = context.facts.sent): void => {
  const { violate } = context
  const actual = sent.get(text) ?? 0
  if (actual < times) violate("every message of a handler arrives", `${text}: ${actual} of ${times}`)
  if (isTooMuch(context, text, actual, times)) {
    violate("no message of a handler arrives more often", `${text}: ${actual} instead of ${times}`)
  }
}

const expectAtMostOnce = (context: Context, text: string): void => {
  const actual = context.facts.sent.get(text) ?? 0
  if (isTooMuch(context, text, actual, 1))
    context.violate("no message of a handler arrives more often", `${text}: ${actual}`)
}

/** The bot does not find a message any more only if a person has deleted it. */
const expectFound = (context: Context, text: string): void => {
  const { facts, name, violate } = context
  if (isShaken(context)) return
  if (facts.gone.has(name) && !facts.removed.has(text)) violate("only people delete messages of the bot", text)
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
    case "retryEqual":
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
      expectFound(context, `${name} first`)
      if (!facts.finals.has(`${name} last`) && !facts.removed.has(`${name} first`))
        violate("an edited message has its last text", name)
      return
    case "remove":
      expectSent(context, name)
      expectFound(context, name)
      if (facts.finals.has(name) && context.chat.type !== "unreadable" && !isShaken(context))
        violate("a removed message is gone", name)
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

/** A step that only the newer version of the bot has. */
const expectNewerKeys = ({ keys }: Facts, violate: Context["violate"]): void => {
  for (const [subject, { size }] of keys) {
    if (subject.startsWith("check ") && size > 1) violate("each step has one key", `${subject}: ${size}`)
  }
}

/**
 * The result of a step is recorded before the handler has it. A process can be frozen between its last look at the lease and the step,
 * which the history shows if the store answers at once.
 */
const expectReceipts = ({ events, plan }: Recording, { ledger }: Facts, violate: Context["violate"]): void => {
  const received = new Set<string>()
  /** The last operation of each process, and the processes that were frozen directly after a write. */
  const last = new Map<string, string>()
  const stopped = new Set<string>()
  for (const event of events) {
    if (event.type === "store") {
      last.set(event.process, event.operation)
      if (event.operation === "write") stopped.delete(event.process)
    }
    const isFrozen = event.type === "process" && event.change === "frozen"
    if (isFrozen && plan.latency === 0 && last.get(event.process) === "write") stopped.add(event.process)
    if (event.type !== "noted") continue
    const { process, subject, what } = event
    if (what === "received") received.add(subject)
    else if (what === "charged" && received.has(subject) && !stopped.has(process)) {
      if (!ledger.shaken.has(subject.split(".")[0])) violate("a step with a result does not run again", subject)
    }
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

/** What the store has thrown back is handled again behind later updates. Everything else is handled in order. */
const isFold = (state: ReadonlyArray<string>, order: ReadonlyArray<string>, { shaken }: Ledger): boolean => {
  const isFirm = (text: string) => !shaken.has(text)
  const isEqual = (one: ReadonlyArray<string>, other: ReadonlyArray<string>) => one.join("\n") === other.join("\n")
  return isEqual(state.filter(isFirm), order.filter(isFirm)) && isEqual([...state].sort(), [...order].sort())
}

/** The newer version of the bot keeps the texts in an object. */
const textsOf = (state: unknown): ReadonlyArray<string> =>
  (isRecord(state) && "texts" in state ? state["texts"] : state) as ReadonlyArray<string>

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
    const state = textsOf(states.get(`chat:${chat}`) ?? [])
    // Deliveries can arrive in another order than they were said.
    const order = (facts.ledger.queues.get(chat ?? "") ?? []).filter((text) => texts.includes(text))
    if (!isFold(state, order, facts.ledger)) {
      violate(
        "the state is what the acknowledged updates made of it",
        `${JSON.stringify(state)} of ${JSON.stringify(order)}`
      )
    }
  }
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
  expectReceipts(recording, facts, violate)
  expectNewerKeys(facts, violate)
  expectCount(plan, recording, facts, violate)
  return violations
}
