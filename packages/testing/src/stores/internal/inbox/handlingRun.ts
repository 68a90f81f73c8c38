import type { ChatId } from "@colloquy/core/model/Chat"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import type * as Journal from "@colloquy/core/inbox/Journal"
import { type Message, MessageId } from "@colloquy/core/model/Message"
import * as State from "@colloquy/core/bot/State"
import * as Timer from "@colloquy/core/bot/Timer"
import * as Update from "@colloquy/core/model/Update"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ok } from "node:assert"
import type * as Faults from "../../../emulator/Faults.ts"
import * as Fixtures from "../../../bot/Fixtures.ts"
import { makeClient } from "../../../emulator/internal/http/inProcessClient.ts"
import * as emulator from "../../../emulator/internal/platform/emulator.ts"
import { counts, inboxOf, makeLife, Rung, startProcess, Sums, Tick, Ticks, token } from "./handlingProcesses.ts"
import type { Program } from "./handlingPrograms.ts"

/** The failures that a run injects. */
export interface Attack {
  readonly policy: Journal.Policy
  readonly programs: ReadonlyArray<Program>
  /** How many processes run at the same time. */
  readonly processes: number
  /** The points at which processes are killed, one after the other. */
  readonly kills: ReadonlyArray<number>
  readonly faults?: ReadonlyArray<Faults.Rule>
}

/** A run that takes longer does not end, in milliseconds. */
const maxDuration = 300_000

/** A run does not wait for timers that are due later, in milliseconds. */
const farAway = 3_600_000

/** Lets time pass: moves the test clock, or waits. */
const pass = (virtual: number, real: number): Effect.Effect<void> =>
  Effect.clockWith((clock) => ("adjust" in clock ? TestClock.adjust(virtual) : clock.sleep(Duration.millis(real))))

const receivedOf = (chat_id: ChatId, program: Program, index: number): Inbox.Received => {
  const { message } = Fixtures.messageCreated({
    recipient: { chat_id, chat_type: program.in === "dialog" ? "dialog" : "chat" },
    mid: MessageId.make(`update ${index}`),
    text: String(index)
  })
  const update: Update.Update = { update_type: "message_created", timestamp: index + 1, message: message! }
  return { decoded: Result.succeed(update) }
}

/** The visible text of a message, without the marks that differ between attempts. */
const look = ({ body }: Message): string =>
  `${(body?.text ?? "").replace(/[ !]+$/, "")}${(body?.attachments?.length ?? 0) > 0 ? " [OK]" : ""}`

const uncertain = (outcome: string) =>
  Effect.map(Metric.snapshot, (all) => {
    const metric = all.find(
      ({ attributes, id }) => id === "colloquy_journal_uncertain_total" && attributes?.["outcome"] === outcome
    )
    return (metric?.state as { readonly count: number } | undefined)?.count ?? 0
  })

/** The values of a state, with their chats. */
const valuesOf = <A, O extends State.Of>(entries: Stream.Stream<State.Entry<A, O>, StoreError, Inbox.Inbox>) =>
  Effect.map(Stream.runCollect(entries), (entries) =>
    entries.map(({ key, value }) => ({
      chat_id: (key as { readonly chat_id?: ChatId }).chat_id,
      value: Result.getOrThrow(value)
    }))
  )

/** A run ends after this many rounds in which neither an update nor a timer was left. */
const maxQuietRounds = 3

/** Handles updates in processes that are killed, and returns the effects at the end. */
export const run = Effect.fnUntraced(
  function* ({ faults = [], kills, policy, processes, programs }: Attack) {
    const store = yield* InboxStore
    const platform = yield* emulator.make({ token })
    const ann = yield* platform.user("Ann")
    const { chat_id: dialog } = yield* ann.start()
    const { chat_id: group } = yield* platform.chat({ owner: ann })
    const client = makeClient(platform.handle)
    const world = { store, client, policy, programs, dialog, group, ran: new Array<string>() }
    yield* platform.setFaults(faults)
    const inInbox = Effect.provide(inboxOf(store))
    yield* inInbox(
      Effect.andThen(
        Tick.for({ chat_id: dialog }).cron("* * * * * *", undefined, { missed: "all" }),
        Inbox.Inbox.use((inbox) =>
          Effect.forEach(programs, (program, index) => inbox.receive([receivedOf(world[program.in], program, index)]), {
            discard: true
          })
        )
      )
    )
    const left = [...kills]
    const start = Effect.gen(function* () {
      const life = makeLife(left.shift() ?? Infinity)
      return { life, fiber: yield* startProcess(world, life) }
    })
    const running: Array<Effect.Success<typeof start>> = []
    for (let index = 0; index < processes; index++) running.push(yield* start)
    let killed = 0
    let quietRounds = 0
    for (let millis = 0; ; millis += 100) {
      yield* pass(100, 10)
      for (const [index, { life }] of running.entries()) {
        if (!life.isDead) continue
        killed++
        running[index] = yield* start
      }
      // A timer becomes an update and an update sets a timer meanwhile, so both are read several times.
      const isQuiet = Effect.map(store.untilNext, (next) => next === undefined || next > farAway)
      const wasQuiet = yield* isQuiet
      const { queued } = yield* store.stats
      quietRounds = wasQuiet && queued === 0 && (yield* isQuiet) ? quietRounds + 1 : 0
      if (quietRounds === maxQuietRounds) break
      ok(millis < maxDuration, `${queued} updates are not handled`)
    }
    for (const { fiber, life } of running) {
      life.isDead = true
      fiber.interruptUnsafe()
    }
    const { dead, ...found } = yield* inInbox(
      Effect.gen(function* () {
        const total: Record<string, number> = {}
        for (const [of, state] of Object.entries(counts)) {
          for (const { chat_id, value } of yield* valuesOf(State.stream(state as State.State<number, State.Of>))) {
            const place = chat_id === undefined ? "" : ` of ${chat_id === dialog ? "dialog" : "group"}`
            total[`${of}${place}`] = value
          }
        }
        const toSum = ({ key, value }: State.Entry<number, typeof Sums.of>) =>
          [key as string, Result.getOrThrow(value)] as const
        // The sums of the counts by their owners, as a stream and as a sorted list return them.
        const sums = {
          all: (yield* Stream.runCollect(State.stream(Sums))).map(toSum),
          sorted: (yield* State.top(Sums, { limit: 10 })).map(toSum)
        }
        const rung = (yield* valuesOf(State.stream(Rung))).flatMap(({ value }) => value)
        const ticks = (yield* valuesOf(State.stream(Ticks))).reduce((sum, { value }) => sum + value, 0)
        const dead = (yield* Stream.runCollect(Inbox.deadLetters)).map(({ update }) =>
          Result.getOrThrow(update.decoded)
        )
        const set = (yield* Stream.runCollect(Timer.stream)).map(({ chat_id, key, value }) => [
          `${chat_id === dialog ? "dialog" : "group"} ${key?.replace("slot ", "")}`,
          JSON.parse(value) as string
        ])
        return { counts: total, sums, rung, ticks, dead, set: Object.fromEntries(set) as Record<string, string> }
      })
    )
    const sentTo = (chat_id: ChatId) =>
      Effect.map(platform.messages(chat_id), (messages) =>
        messages.filter(({ sender }) => sender?.is_bot === true).map(look)
      )
    return {
      ...found,
      /** How many processes were killed. */
      kills: killed,
      dialog: yield* sentTo(dialog),
      group: yield* sentTo(group),
      steps: world.ran,
      /** The programs whose updates became dead letters, and the timers. */
      dead: {
        programs: dead.flatMap((update) =>
          Update.textOf(update) === undefined ? [] : [Number(Update.textOf(update))]
        ),
        timers: dead.flatMap((update) =>
          update.update_type === "colloquy_timer" ? [String(JSON.parse(update.value))] : []
        )
      },
      repeated: yield* uncertain("repeated"),
      skipped: yield* uncertain("skipped")
    }
  },
  Effect.scoped,
  Effect.provideService(Metric.MetricRegistry, new Map()),
  Effect.provide(Logger.layer([]))
)

/** The effects of a run, after all updates were handled. */
export type Outcome = Effect.Success<ReturnType<typeof run>>
