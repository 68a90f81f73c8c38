/** One run: a plan is carried out in a world, and the auditor judges what was recorded. */
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import * as State from "@colloquy/core/bot/State"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as RateLimiterStore from "@colloquy/core/client/RateLimiterStore"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { audit } from "./auditor/audit.ts"
import { removedBy } from "./auditor/messages.ts"
import { isSending, sentMessage } from "./auditor/subjects.ts"
import { mayRemove } from "./removal.ts"
import { ledgerOf } from "./auditor/ledger.ts"
import type { Ending, Recording, SeenMessage, Violation } from "./auditor/recording.ts"
import { programOf } from "./bot.ts"
import { makeBots } from "../../packages/testing/src/simulation/internal/machine/processes.ts"
import { disturbAll } from "../../packages/testing/src/simulation/internal/machine/disturbing.ts"
import type { FaultName, Moment, Plan } from "./plan.ts"
import { makePlatform, type Platform } from "../../packages/testing/src/simulation/internal/machine/platform.ts"
import type { Simulation } from "./simulation.ts"
import { peopleOf } from "./programs/programs.ts"
import { makeReplicated } from "./replica.ts"
import { type SqliteStore, sqliteStore } from "./sqlite.ts"
import { type Database, makeDatabase } from "../../packages/testing/src/simulation/internal/machine/database.ts"
import { Dice } from "../../packages/testing/src/simulation/internal/world/dice.ts"
import { type Event, History, ofType, toText } from "./history.ts"
import { epoch, TimeStandsStill, World } from "../../packages/testing/src/simulation/internal/world/world.ts"
import { Process } from "../../packages/testing/src/simulation/internal/world/process.ts"

export interface Outcome {
  readonly plan: Plan
  readonly violations: ReadonlyArray<Violation>
  readonly events: ReadonlyArray<Event>
  /** How often each fault was injected and each disturbance happened. */
  readonly faults: ReadonlyMap<string, number>
  /** Milliseconds of virtual time. */
  readonly virtual: number
  /** Number of tasks that were executed. */
  readonly tasks: number
}

/** Virtual time after the faults within which everything has to be done. */
const patience = 3 * 3_600_000

/** Makes the world of a plan, in which nothing has happened yet. */
export const makeSimulation = (plan: Plan): Simulation => {
  const { order, seed, yieldProbability } = plan
  const world = new World({ dice: new Dice(`world ${seed}`), order, yieldProbability })
  const history = new History(world)
  const shared = new Map<string, unknown>()
  const dice = new Dice(`faults ${seed}`)
  const strikes = (fault: FaultName, process: Process, detail = "") => {
    const probability = plan.faults[fault] ?? 0
    if (probability === 0 || !world.isFaulty || !dice.chance(probability)) return false
    history.add({ type: "fault", process: process.name, kind: fault, detail })
    return true
  }
  return { plan, world, history, shared, owners: new Map(), strikes }
}

const messagesOf = (
  seen: Effect.Success<typeof Emulator.seen>,
  deleted: ReadonlySet<string>
): ReadonlyArray<SeenMessage> => {
  const messages = new Map<string, SeenMessage>()
  for (const event of seen) {
    if (event._tag === "Message" || event._tag === "Edited") {
      const { chat_id, message } = event
      const mid = message.body?.mid
      if (mid !== undefined) messages.set(mid, { chat: String(chat_id), text: message.body?.text ?? "" })
    } else if (event._tag === "Removed") messages.delete(event.message_id)
  }
  // What people do is not among what they see.
  for (const mid of deleted) messages.delete(mid)
  return [...messages.values()]
}

/** The names of the states that programs use. */
const stateNames = ["seen", "count", "conversation/talk", "counter", "sound"]

/** A value is stored with the version of its schema. */
const valueOf = (text: string): unknown => (JSON.parse(text) as ReadonlyArray<unknown>)[1]

const readEnding = async (
  { history, world }: Simulation,
  platform: Platform,
  { broadcasts, process, store }: Database,
  sqlite: SqliteStore | undefined
): Promise<Omit<Ending, "isTalkDone" | "quiet" | "stoppedAt" | "talkFailure" | "processes">> => {
  const stored = await world.await(
    process,
    Context.empty(),
    Effect.gen(function* () {
      const { queued } = yield* store.stats
      const timers = yield* store.rows({ prefix: "timer/", by: "due", limit: 1000 })
      const deadLetters = yield* store.updates({ of: "deadLetters", limit: 1000 })
      const records = yield* broadcasts.records("news", { limit: 1000 })
      const states = yield* Effect.forEach(stateNames, (name) => {
        const prefix = State.rowKey({ name, scope: "" })
        return Effect.map(store.rows({ prefix, by: "key", limit: 1000 }), (rows) =>
          rows.map(({ key, text }) => ({ name, scope: key.slice(prefix.length), value: valueOf(text) }))
        )
      })
      const authorRows = sqlite && (yield* sqlite.authorRows)
      return {
        queued,
        authorRows,
        timers: timers.length,
        broadcast: records.map(({ chat_id, status }) => ({ chat: String(chat_id), status })),
        deadLetters: deadLetters.map(({ failure, update }) => ({
          attempts: failure!.attempts,
          error: failure!.error,
          text: update.text
        })),
        states: states.flat()
      }
    })
  )
  const seen = await world.await(platform.process, platform.context, Emulator.seen)
  return { ...stored, messages: messagesOf(seen, removedBy(history.events)) }
}

const isMoment = (event: Event, on: Moment): boolean => {
  switch (event.type) {
    case "store":
      return event.operation === on
    case "sent":
    case "executed":
      return event.type === on && event.method === "POST" && event.path.startsWith("/messages?")
    case "noted":
      return event.what === on
    default:
      return event.type === on
  }
}

/** Whether everything that people said has reached the store: the platform repeats deliveries for hours. */
const isEverythingStored = (events: ReadonlyArray<Event>): boolean => {
  const { lost, queued } = ledgerOf(events)
  return ofType(events, "said").every(({ subject }) => queued.has(subject) || lost.has(subject))
}

const carryOut = async (simulation: Simulation): Promise<Ending> => {
  const { plan, world } = simulation
  const platform = await makePlatform(simulation, {
    onExecuted: ({ answer, method, path, status }) => {
      const sent = status === 200 && isSending(method, path) ? sentMessage(answer) : undefined
      if (sent !== undefined) mayRemove(simulation, simulation.owners.get(sent.chat), sent.chat, sent.mid)
    }
  })
  const process = new Process("store", plan.storeSkew)
  const replicated = plan.disturbances.some(({ kind }) => kind === "failover")
    ? makeReplicated(world, process)
    : undefined
  const stores = Effect.gen(function* () {
    const sqlite = replicated === undefined && plan.store === "sqlite" ? yield* sqliteStore : undefined
    return {
      sqlite,
      store: replicated?.store ?? sqlite?.store ?? (yield* InboxStore.makeMemory),
      broadcasts: yield* BroadcastStore.makeMemory,
      permits: yield* RateLimiterStore.makeMemory
    }
  })
  const { sqlite, ...opened } = await world.open(process, Context.empty(), stores)
  const database = makeDatabase(simulation, { process, ...opened })
  if (platform.marker !== undefined) {
    const rows = [{ key: "marker/updates", row: { text: String(platform.marker) }, revision: "first" }]
    const batch = { updates: [], deadLetters: [], rows, now: world.now, duplicatesSince: 0 }
    await world.await(database.process, Context.empty(), database.store.enqueue(batch))
  }
  const bots = makeBots(simulation, programOf(simulation, platform, database, sqlite))
  bots.start()
  const people = new Process("people")
  const talking = world.fork(people, platform.context, peopleOf(plan.program, simulation))
  await disturbAll({
    ...plan,
    world,
    events: simulation.history.events,
    processAt: (event, on: Moment) => ("process" in event && isMoment(event, on) ? event.process : undefined),
    disturb: (disturbance, name) => {
      const { kind, millis } = disturbance
      if (kind !== "failover") return bots.disturb({ ...disturbance, kind }, name)
      // The replica has at least the position of the poller before anything happened. Without it, updates are skipped.
      const since = Math.max(epoch, world.now - millis)
      replicated?.promote(since)
      simulation.history.add({ type: "failedOver", since: since - epoch })
      return undefined
    }
  })
  world.isFaulty = false
  bots.finishDeploy()
  const end = world.now + patience
  const isDone = async () => {
    if (talking.pollUnsafe() === undefined || !isEverythingStored(simulation.history.events)) return false
    if (!(await world.await(platform.process, platform.context, platform.hasDelivered))) return false
    const { queued, timers } = await readEnding(simulation, platform, database, sqlite)
    return queued === 0 && timers === 0
  }
  do await world.run(20_000)
  while (!(await isDone()) && world.now < end)
  // What is sent after the last update, such as an answer that is late, and a bot that does something once more.
  await world.run(60_000)
  const done = simulation.history.events.length
  await world.run(plan.quiet ?? 0)
  const quiet = simulation.history.events.slice(done)
  const stoppedAt = world.now - epoch
  bots.stop()
  await world.run(60_000)
  const talk = talking.pollUnsafe()
  return {
    ...(await readEnding(simulation, platform, database, sqlite)),
    quiet,
    stoppedAt,
    isTalkDone: talk !== undefined,
    talkFailure: talk?._tag === "Failure" ? String(talk.cause).slice(0, 300) : undefined,
    processes: bots.problems()
  }
}

const countFaults = (events: ReadonlyArray<Event>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const event of events) {
    const kind =
      event.type === "fault"
        ? event.kind
        : event.type === "failedOver"
          ? event.type
          : event.type === "process" &&
              event.change !== "ended" &&
              event.change !== "continued" &&
              event.change !== "joined"
            ? event.change
            : undefined
    if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

const judge = async (simulation: Simulation): Promise<ReadonlyArray<Violation>> => {
  const { history, plan } = simulation
  try {
    const recording: Recording = { plan, events: history.events, ending: await carryOut(simulation) }
    return audit(recording)
  } catch (error) {
    if (error instanceof TimeStandsStill) return [{ rule: "time moves", detail: error.message }]
    throw error
  }
}

/** Carries out a plan. The same plan has the same outcome. */
export const simulate = async (plan: Plan): Promise<Outcome> => {
  const simulation = makeSimulation(plan)
  const { stackTraceLimit } = Error
  // Stacks are most of the cost of an error, and differ from machine to machine.
  Error.stackTraceLimit = 0
  const violations = await judge(simulation).finally(() => {
    Error.stackTraceLimit = stackTraceLimit
  })
  const { history, world } = simulation
  return {
    plan,
    violations,
    events: history.events,
    faults: countFaults(history.events),
    virtual: world.now - epoch,
    tasks: world.tasks
  }
}

/** A text that differs if anything in the histories of two runs differs. */
export const fingerprintOf = ({ events, violations }: Outcome): string => {
  let hash = 7
  for (const text of [...events.map(toText), toText(violations)]) {
    for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  }
  return (hash >>> 0).toString(16)
}
