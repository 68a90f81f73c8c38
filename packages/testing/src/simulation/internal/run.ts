/** One seed: people use the bot for some days, while its processes and the services of the bot fail. */
import * as Bot from "@colloquy/core/bot/Bot"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { BotApi } from "@colloquy/core/client/BotApi"
import * as RateLimiterStore from "@colloquy/core/client/RateLimiterStore"
import type * as Handler from "@colloquy/core/inbox/Handler"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Update from "@colloquy/core/model/Update"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { Emulator } from "../../emulator/Emulator.ts"
import type { Person } from "../../emulator/Person.ts"
import type { Case, Dialog, History, Options, Services, Visitor } from "../Simulation.ts"
import { makeDatabase } from "./machine/database.ts"
import { disturbAll } from "./machine/disturbing.ts"
import type { Machine } from "./machine/machine.ts"
import { makePlatform, type Platform } from "./machine/platform.ts"
import { makeBots } from "./machine/processes.ts"
import { servicesOf } from "./machine/services.ts"
import { type Actor, habitsOf, live } from "./people.ts"
import { type FaultName, type Moment, type Plan, planOf } from "./plan.ts"
import { Recording, recordedApi, recordedBot } from "./recording.ts"
import { recordedPerson } from "./recordedPerson.ts"
import { makeServices } from "./services.ts"
import { Dice } from "./world/dice.ts"
import { epoch, TimeStandsStill, World } from "./world/world.ts"
import { Process } from "./world/process.ts"

/** The input of one seed. */
export interface Subject {
  readonly bot: Handler.Handler<unknown, unknown>
  readonly options: Options<Services, unknown>
  /** The services of the program that runs the simulation. */
  readonly context: Context.Context<never>
}

export interface Outcome {
  readonly plan: Plan
  readonly history: History
  /** The ids of the people, by their numbers. */
  readonly people: ReadonlyArray<number>
  /** The reason why the simulation has ended early. */
  readonly failure: string | undefined
}

/** The parts of the simulation of a seed. */
export interface Stage extends Machine {
  readonly subject: Subject
  readonly seedCase: Case
  readonly plan: Plan
  readonly recording: Recording
  readonly strikes: (fault: FaultName, process: Process, detail?: string) => boolean
}

const names = "Ann Ben Cora Dan Eve Finn Gina Hugo Ida Jon Kim Leo Mia Noah Olga".split(" ")

/** The names of the people: "Ann", …, "Olga", "Ann 2", …. */
const nameOf = (index: number): string => {
  const round = Math.floor(index / names.length)
  return `${names[index % names.length]}${round === 0 ? "" : ` ${round + 1}`}`
}

/** Virtual time after the faults within which everything has to be done. */
const patience = 3 * 3_600_000

/** How long a bot has to answer the last update. */
const lastWait = 600_000

/** Faults happen more often than the defaults of the library expect. */
const runOptions: Bot.RunOptions = {
  maxCrashes: 1000,
  retry: Schedule.upTo(Schedule.spaced("5 seconds"), { times: 200 })
}

const makeStage = (subject: Subject, seedCase: Case): Stage => {
  const { days = 7, faults = "mild" } = subject.options
  const plan = planOf(seedCase, { days, faults })
  const { order, yieldProbability } = plan
  const world = new World({ dice: new Dice(`world ${seedCase.seed}`), order, yieldProbability })
  const recording = new Recording(world)
  const dice = new Map<FaultName, Dice>()
  const diceOf = (fault: FaultName) => {
    const known = dice.get(fault) ?? new Dice(`${fault} ${seedCase.seed}`)
    dice.set(fault, known)
    return known
  }
  const strikes = (fault: FaultName, process: Process, detail = "") => {
    const probability = plan.faults[fault] ?? 0
    if (probability === 0 || !world.isFaulty || !diceOf(fault).chance(probability)) return false
    recording.add({ type: "fault", process: process.name, kind: fault, detail })
    return true
  }
  return { subject, seedCase, plan, world, recording, history: recording, strikes }
}

/** Starts the people of a seed. */
const startPeople = async (
  { plan, recording, seedCase, subject, world }: Stage,
  { context }: Platform
): Promise<ReadonlyArray<Person>> => {
  const { bot, options } = subject
  const { people: count = 10, texts = [], visitors = [] } = options
  const process = new Process("people")
  const dice = new Dice(`people ${seedCase.seed}`)
  const platform = Context.get(context, Emulator)
  const commands = (bot.parts ?? []).flatMap(({ kind, name }) => (kind === "command" ? [name] : []))
  const make = async (index: number): Promise<Person> =>
    recordedPerson(await world.await(process, Context.empty(), platform.user({ first_name: nameOf(index) })), recording)
  const people: Array<Person> = []
  for (let index = 0; index < count; index++) people.push(await make(index))
  const hasFriends = dice.chance(0.4)
  const { chats = hasFriends && count > 1 ? [{ title: "Friends" }] : [] } = options
  const members = chats.length > 0 ? people.slice(0, 2 + dice.int(5)) : []
  const groups: Array<ChatId> = []
  for (const chat of chats) {
    const made = platform.chat({ ...chat, members, bot: { admin: true } })
    groups.push((await world.await(process, Context.empty(), made)).chat_id)
  }
  const habits = habitsOf(dice)
  let actions = 0
  const mayAct = () => ++actions <= (seedCase.actions ?? Infinity)
  for (const [index, person] of people.entries()) {
    if (seedCase.people?.includes(index) === false) continue
    const actor: Actor = {
      commands,
      texts,
      person,
      platform,
      dice: dice.fork(`person ${index}`),
      habits,
      group: members.includes(person) ? groups[index % groups.length] : undefined,
      mayAct
    }
    world.fork(process, context, live(actor, plan.duration))
  }
  const pay = (visitor: Visitor, person: Person, at: number) =>
    Effect.delay(Effect.ignore(Effect.gen(() => visitor(person))), at)
  let index = count
  for (const visitor of visitors) {
    const own = dice.fork(`visitor ${index}`)
    for (let rest = 1 + own.int(3); rest > 0; rest--, index++) {
      const person = await make(index)
      people.push(person)
      if (seedCase.people?.includes(index) === false) continue
      for (let visits = 1 + own.int(2); visits > 0; visits--)
        world.fork(process, context, pay(visitor, person, own.int(plan.duration)))
    }
  }
  return people
}

/** Bots look for work all the time. While nothing is under way, time jumps to what comes next. */
const jumpWhileIdle = (
  { recording, world }: Stage,
  store: InboxStore.InboxStore["Service"],
  isBot: (process: Process) => boolean
): void => {
  const clock = Context.get(world.services(new Process("clock")), Clock.Clock)
  const read = <A, E>(effect: Effect.Effect<A, E>) => Effect.runSync(Effect.provideService(effect, Clock.Clock, clock))
  world.onIdle = () => {
    if (recording.isBusy || read(store.stats).queued > 0) return 0
    const next = read(store.untilNext) ?? Infinity
    return Math.min(
      world.now + next,
      world.dueAt((process, millis) => !isBot(process) || millis >= 60_000)
    )
  }
}

const isMoment = (event: Recording["moments"][number], on: Moment): boolean => {
  switch (event.type) {
    case "store":
      return event.operation === on
    case "executed":
      return on === "executed" && event.method === "POST"
    default:
      return event.type === on
  }
}

const stateKey = /^state\/(conversation|scene)%2F([^/]+)\/(.+)$/

const timerKey = /^timer\/(conversation|scene)%2F([^/]+)\/(.+)$/

/** The ids in a scope or in the key of a timer. */
const idsIn = (text: string): string => (text.match(/-?\d+/g) ?? []).join(" ")

/** The conversations and scenes that have a state in the store. */
const dialogsIn = (rows: ReadonlyArray<InboxStore.Row>): ReadonlyArray<Dialog> => {
  const timeouts = new Set(
    rows.flatMap(({ dueAt, key }) => {
      const [, kind, name, target] = timerKey.exec(key) ?? []
      return dueAt === undefined || target === undefined ? [] : [`${kind} ${name} ${idsIn(decodeURIComponent(target))}`]
    })
  )
  return rows.flatMap(({ key }): ReadonlyArray<Dialog> => {
    const [, kind, name, scope] = stateKey.exec(key) ?? []
    if (kind === undefined || name === undefined || scope === undefined) return []
    const hasTimeout = timeouts.has(`${kind} ${name} ${idsIn(scope)}`)
    return [{ kind: kind === "scene" ? kind : "conversation", name: decodeURIComponent(name), scope, hasTimeout }]
  })
}

type Ending = Pick<History, "deadLetters" | "dialogs"> & Pick<Outcome, "people">

const carryOut = async (stage: Stage): Promise<Ending> => {
  const { plan, recording, subject, world } = stage
  const { bot, context: caller, options } = subject
  const platform = await makePlatform(stage)
  const process = new Process("store")
  const stores = Effect.all({
    store: InboxStore.makeMemory,
    broadcasts: BroadcastStore.makeMemory,
    permits: RateLimiterStore.makeMemory
  })
  const opened = await world.open(process, Context.empty(), stores)
  const database = makeDatabase(stage, { process, ...opened })
  const reach = await makeServices(stage)
  const bots = makeBots(stage, (process, _version, context) => {
    const base = servicesOf({ database, plan, platform }, process, context)
    const api = Layer.effect(
      BotApi,
      Effect.map(BotApi, (api) => recordedApi(api, recording, process))
    )
    const services = Layer.provideMerge(api, base)
    const all = options.layer === undefined ? services : Layer.provideMerge(options.layer, services)
    const own = Context.mergeAll(caller, reach(process), context, world.services(process))
    return Bot.run(recordedBot(bot, recording, process), { ...runOptions, ...options.run }).pipe(
      Effect.provide(all),
      Effect.provideContext(own as Context.Context<unknown>)
    )
  })
  jumpWhileIdle(stage, opened.store, bots.has)
  bots.start()
  const people = await startPeople(stage, platform)
  await disturbAll({
    ...plan,
    world,
    events: recording.moments,
    isPatient: true,
    processAt: (event, on: Moment) => ("process" in event && isMoment(event, on) ? event.process : undefined),
    disturb: bots.disturb
  })
  world.isFaulty = false
  bots.finishDeploy()
  const read = <A, E>(effect: Effect.Effect<A, E>) => world.await(process, Context.empty(), effect)
  const end = world.now + patience
  do await world.run(60_000)
  while ((recording.isBusy || (await read(opened.store.stats)).queued > 0) && world.now < end)
  await world.run(lastWait)
  const rows = await read(opened.store.rows({ prefix: "", by: "key", limit: 10_000 }))
  const letters = await read(opened.store.updates({ of: "deadLetters", limit: 1000 }))
  bots.stop()
  await world.run(60_000)
  return {
    people: people.map(({ user_id }) => user_id),
    deadLetters: letters.map(({ failure, update }) => ({
      update: update.text,
      chat_id: Result.isSuccess(update.decoded) ? Update.chatOf(update.decoded.success) : undefined,
      error: failure?.error ?? "",
      attempts: failure?.attempts ?? 0
    })),
    dialogs: dialogsIn(rows)
  }
}

/** Simulates a seed. The same case has the same history. */
export const simulate = async (subject: Subject, seedCase: Case): Promise<Outcome> => {
  const stage = makeStage(subject, seedCase)
  const { plan, recording, world } = stage
  const { stackTraceLimit } = Error
  // Stacks are most of the cost of an error, and differ from machine to machine.
  Error.stackTraceLimit = 0
  const outcomeOf = ({ people, ...ending }: Ending, failure?: string): Outcome => {
    const { events } = recording
    const history = { seed: seedCase.seed, events, duration: world.now - epoch, ...ending }
    return { plan, history, people, failure }
  }
  try {
    return outcomeOf(await carryOut(stage))
  } catch (error) {
    if (!(error instanceof TimeStandsStill)) throw error
    return outcomeOf({ people: [], deadLetters: [], dialogs: [] }, error.message)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
