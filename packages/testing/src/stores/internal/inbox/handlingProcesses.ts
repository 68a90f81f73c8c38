import * as ApiError from "@colloquy/core/client/ApiError"
import * as BotApi from "@colloquy/core/client/BotApi"
import type { ChatId } from "@colloquy/core/model/Chat"
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Journal from "@colloquy/core/inbox/Journal"
import * as Keyboard from "@colloquy/core/model/Keyboard"
import * as Me from "@colloquy/core/endpoints/Me"
import * as Messages from "@colloquy/core/endpoints/Messages"
import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import * as State from "@colloquy/core/bot/State"
import { StoreError } from "@colloquy/core/base/StoreError"
import * as Timer from "@colloquy/core/bot/Timer"
import * as Update from "@colloquy/core/model/Update"
import * as Bot from "@colloquy/core/bot/Bot"
import * as Updates from "@colloquy/core/inbox/Updates"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { apiOrigin } from "../../../emulator/internal/http/wire.ts"
import type { Action, Program } from "./handlingPrograms.ts"

type Store = InboxStore.InboxStore["Service"]

export const token = "token"

/** The time for which a killed process keeps its chats. */
export const leaseDuration = "1 second"

/** The life of a process, which can be killed before and after each of its operations and requests. */
export const makeLife = (killAt: number) => {
  let points = 0
  const point: Effect.Effect<void> = Effect.suspend(() => {
    if (points++ === killAt) life.isDead = true
    // The fibers of a dead process stop here.
    return life.isDead ? Effect.never : Effect.void
  })
  const life = { isDead: false, point }
  return life
}

type Life = ReturnType<typeof makeLife>

/** The part of a run that its processes share. */
interface World {
  readonly store: Store
  readonly client: HttpClient.HttpClient
  readonly policy: Journal.Policy
  readonly programs: ReadonlyArray<Program>
  readonly dialog: ChatId
  readonly group: ChatId
  /** Names of the steps that ran, as often as they ran. */
  readonly ran: Array<string>
}

export const counts = {
  chat: State.make("chat", Schema.Int, { of: "chat", initial: () => 0 }),
  user: State.make("user", Schema.Int, { of: "user", initial: () => 0 }),
  userInChat: State.make("userInChat", Schema.Int, { of: "userInChat", initial: () => 0 }),
  bot: State.make("bot", Schema.Int, { of: "bot", initial: () => 0 })
}

/** Moves the sums up and down. */
export const placeOf = (sum: number): number => (sum % 2 === 0 ? sum / 4 : -sum)

/** The sums of the counts, by their owners, in the order of the sums. */
export const Sums = State.make("sums", Schema.Int, {
  of: Schema.String,
  initial: () => 0,
  sortBy: placeOf
})

/** The timers of a chat that were carried out. */
export const Rung = State.make("rung", Schema.Array(Schema.String), { of: "chat", initial: () => [] })

/** The number of executions of the recurring timer, which ends itself. */
export const Ticks = State.make("ticks", Schema.Int, { of: "chat", initial: () => 0 })

export const maxTicks = 2

const Alarm = Timer.make("alarm", Schema.String)

export const Tick = Timer.make("tick")

const increment = (count: number) => count + 1

const keyboard = Keyboard.make([Keyboard.callback("OK", "ok")])

const bot = (world: World, life: Life) => {
  const perform = (action: Action): Effect.Effect<unknown, unknown, BotApi.BotApi | Inbox.Inbox> => {
    switch (action._tag) {
      case "Together":
        return Effect.forEach(action.actions, perform, { concurrency: "unbounded" })
      case "Fail":
        return Effect.flatMap(Handler.CurrentAttempt, (attempt) =>
          attempt <= action.attempts ? Effect.fail("failed as planned") : Effect.void
        )
      case "Sleep":
        return Effect.sleep(action.millis)
      case "Step": {
        const ran = Effect.sync(() => void world.ran.push(action.name))
        const step = life.point.pipe(Effect.andThen(ran), Effect.andThen(life.point), Effect.as(action.name))
        return Journal.step(action.name, Schema.String, step)
      }
      case "Count":
        return Effect.andThen(counts[action.of].update(increment), Sums.at(action.of).update(increment))
      case "Alarm":
        return Alarm.in(action.millis, action.id, { key: action.id })
      case "Slot": {
        const options = { key: `slot ${action.slot}` }
        if (action.does === "cancel") return Alarm.cancel(options)
        return Alarm.in(action.does === "set" ? "1000 days" : "10 millis", action.id, options)
      }
      case "Send": {
        const { style, text, to } = action
        const chat_id = world[to]
        if (style === "markdown") return Messages.send({ chat_id, text: `**${text}**`, format: "markdown" })
        if (style === "keyboard") return Messages.send({ chat_id, text, attachments: [keyboard] })
        if (style === "plain") return Messages.send({ chat_id, text })
        // Each attempt has a different text.
        return Effect.flatMap(Handler.CurrentAttempt, (attempt) =>
          Messages.send({ chat_id, text: `${text} ${"!".repeat(attempt)}` }).pipe(Journal.named(text))
        )
      }
    }
  }
  return Handler.first(
    Alarm.on((id) =>
      Effect.andThen(
        Rung.update((all) => [...all, id]),
        Messages.send({ chat_id: world.dialog, text: id })
      )
    ),
    Tick.on(() =>
      Effect.flatMap(Ticks.update(increment), (ticks) => (ticks >= maxTicks ? Tick.cancel() : Effect.void))
    ),
    (update: Update.Update) =>
      Effect.forEach(world.programs[Number(Update.textOf(update))]?.actions ?? [], perform, { discard: true })
  )
}

const cut = new StoreError({ store: "inbox", operation: "commit", reason: "the connection was cut", isRetryable: true })

/**
 * A store that a process uses. The process can be killed before and after each operation, and some operations are
 * executed but lose their answer. The store does not listen, because a dead process would keep its connection.
 */
const mortalStore = ({ listen: _, ...store }: Store, { point }: Life): Store => {
  const mortal =
    <A extends ReadonlyArray<unknown>, B, E>(operation: (...args: A) => Effect.Effect<B, E>) =>
    (...args: A): Effect.Effect<B, E> =>
      point.pipe(Effect.andThen(Effect.suspend(() => operation(...args))), Effect.tap(point))
  let answers = 0
  const lossy = <A extends ReadonlyArray<unknown>, B>(operation: (...args: A) => Effect.Effect<B, StoreError>) =>
    mortal((...args: A) =>
      Effect.flatMap(operation(...args), (answer) => (++answers % 7 === 0 ? Effect.fail(cut) : Effect.succeed(answer)))
    )
  return {
    ...store,
    isShared: true,
    claim: mortal(store.claim),
    commit: lossy(store.commit),
    renew: mortal(store.renew),
    write: lossy(store.write),
    read: mortal(store.read)
  }
}

const mortalClient = (client: HttpClient.HttpClient, { point }: Life): HttpClient.HttpClient =>
  HttpClient.transform(client, (response) => point.pipe(Effect.andThen(response), Effect.tap(point)))

export const inboxOf = (store: Store) =>
  Inbox.layer({ leaseDuration }).pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, store)))

const isUncertain = (error: unknown): boolean =>
  error instanceof ApiError.RequestFailed ? error.reason._tag === "Uncertain" : error instanceof ApiError.Uncertain

/** Retries all failures, except calls and steps that were skipped. */
const retry = Schedule.spaced("20 millis").pipe(
  Schedule.setInputType<Cause.Cause<unknown>>(),
  Schedule.while(
    ({ input }) => !input.reasons.every((reason) => Cause.isFailReason(reason) && isUncertain(reason.error))
  )
)

/** Starts a process that handles updates until it is killed. */
export const startProcess = (world: World, life: Life) =>
  Effect.gen(function* () {
    // Like every bot, the process sends a request before its first message.
    yield* Me.get()
    const inbox = yield* Inbox.Inbox
    const running = Bot.run(bot(world, life), { retry, maxCrashes: 1000 })
    yield* Effect.provideService(running, Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never }))
  }).pipe(
    Effect.provideService(Journal.CurrentPolicy, world.policy),
    Effect.provide([
      inboxOf(mortalStore(world.store, life)),
      BotApi.layer({ token: Redacted.make(token), baseUrl: apiOrigin }).pipe(
        Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited)),
        Layer.provide(Layer.succeed(HttpClient.HttpClient, mortalClient(world.client, life)))
      )
    ]),
    Effect.forkDetach
  )
