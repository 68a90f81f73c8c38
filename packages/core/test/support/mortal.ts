/** A process that can be killed at every point where something leaves it, and its handler of one update. */
import { Emulator, Fixtures } from "@colloquy/testing"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import {
  BotApi,
  type Chat,
  Journal,
  Keyboard,
  Message,
  Messages,
  Outage,
  QueuedUpdate,
  RateLimiter,
  type Update
} from "../../src/index.ts"
import type { Row } from "../../src/inbox/InboxStore.ts"
import { CurrentUpdate } from "../../src/inbox/internal/consumer/currentUpdate.ts"
import * as journal from "../../src/inbox/internal/journal/journal.ts"

/** What a handler does. */
export type Action =
  | { readonly _tag: "Send"; readonly to: "dialog" | "group"; readonly text: string; readonly style: Style }
  | { readonly _tag: "Step"; readonly name: string }
  | { readonly _tag: "Together"; readonly actions: ReadonlyArray<Action> }
  | { readonly _tag: "Fail"; readonly attempts: number }

export type Style = "plain" | "markdown" | "html" | "keyboard" | "named"

/** A generator of numbers that gives the same ones for the same seed. */
export const makeRandom = (seed: number) => {
  let state = (seed * 2654435761 + 1) >>> 0
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return { next, pick: <A>(values: ReadonlyArray<A>): A => values[next(values.length)] }
}

type Random = ReturnType<typeof makeRandom>

const styles: ReadonlyArray<Style> = ["plain", "plain", "plain", "markdown", "html", "keyboard", "named"]

const randomAction = (random: Random, depth: number): Action => {
  const kind = random.next(depth === 0 ? 8 : 6)
  if (kind === 7) return { _tag: "Fail", attempts: 1 + random.next(2) }
  if (kind === 6) {
    return { _tag: "Together", actions: Array.from({ length: 2 + random.next(3) }, () => randomAction(random, 1)) }
  }
  if (kind === 5) return { _tag: "Step", name: random.pick(["charge", "ask"]) }
  return {
    _tag: "Send",
    to: random.pick(["dialog", "dialog", "group"]),
    text: random.pick(["yes", "no"]),
    style: random.pick(styles)
  }
}

export const randomProgram = (random: Random): ReadonlyArray<Action> =>
  Array.from({ length: 1 + random.next(4) }, () => randomAction(random, 0))

/** Every action once, without groups. */
export const flatten = (actions: ReadonlyArray<Action>): ReadonlyArray<Action> =>
  actions.flatMap((action) => (action._tag === "Together" ? flatten(action.actions) : [action]))

/** Kills a process at one of its points. */
export class Life {
  points = 0
  isDead = false
  readonly killAt: number
  readonly death = Deferred.makeUnsafe<void>()

  constructor(killAt: number) {
    this.killAt = killAt
  }

  kill(): void {
    this.isDead = true
    Deferred.doneUnsafe(this.death, Effect.void)
  }

  readonly point: Effect.Effect<void> = Effect.suspend(() => {
    if (this.points++ === this.killAt) this.kill()
    // A process that is dead does nothing any more.
    return this.isDead ? Effect.never : Effect.void
  })
}

/** The life of the process that currently sends requests. */
let current = new Life(Infinity)

/** Requests belong to this process from now on. */
export const live = (life: Life): void => {
  current = life
}

/** Requests pass through the points of the current process. */
const mortalClient = Layer.effect(
  HttpClient.HttpClient,
  HttpClient.HttpClient.use((client) =>
    Effect.succeed(
      HttpClient.transform(client, (response) =>
        Effect.suspend(() => {
          const { point } = current
          return point.pipe(Effect.andThen(response), Effect.tap(point))
        })
      )
    )
  )
)

/** The emulator, and a client whose process can be killed. */
export const platform = BotApi.layer({ token: Redacted.make("token"), baseUrl: Emulator.baseUrl }).pipe(
  Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited)),
  Layer.provide(mortalClient),
  Layer.provideMerge(Emulator.layer({ token: "token" }))
)

interface Stored {
  readonly entries: Map<string, Row>
}

const recordIn =
  ({ entries }: Stored, life: Life): journal.Record =>
  (written) =>
    Effect.gen(function* () {
      yield* life.point
      for (const { key, revision, row } of written) {
        if (row === undefined) entries.delete(key)
        else entries.set(key, { key, text: row.text, revision })
      }
      yield* life.point
      return "applied" as const
    })

export interface Scene {
  readonly dialog: Chat.ChatId
  readonly group: Chat.ChatId
  readonly policy: Journal.Policy
  /** Names of the steps that ran, as often as they ran. */
  readonly ran: Array<string>
  /** The results of the steps in each attempt that succeeded. */
  readonly results: Array<string>
}

export const perform = (
  scene: Scene,
  life: Life,
  action: Action,
  attempt: number
): Effect.Effect<unknown, unknown, BotApi.BotApi> => {
  switch (action._tag) {
    case "Together":
      return Effect.forEach(action.actions, (inner) => perform(scene, life, inner, attempt), {
        concurrency: "unbounded"
      })
    case "Fail":
      return attempt <= action.attempts ? Effect.fail("failed as planned") : Effect.void
    case "Step":
      return Effect.tap(
        Journal.step(
          action.name,
          Schema.Struct({ run: Schema.Int, of: Schema.String }),
          Effect.gen(function* () {
            yield* life.point
            scene.ran.push(action.name)
            yield* life.point
            return { run: scene.ran.length, of: action.name }
          })
        ),
        ({ of }) => Effect.sync(() => scene.results.push(of))
      )
    case "Send": {
      const { style, text, to } = action
      const chat_id = scene[to]
      if (style === "markdown") return Messages.send({ chat_id, text: `**${text}**`, format: "markdown" })
      if (style === "html") return Messages.send({ chat_id, text: `<b>${text}</b>`, format: "html" })
      if (style === "keyboard") {
        return Messages.send({ chat_id, text, attachments: [keyboard] })
      }
      if (style === "named") {
        // The text is another one in each attempt.
        return Messages.send({ chat_id, text: `${text} ${"!".repeat(attempt)}` }).pipe(Journal.named(text))
      }
      return Messages.send({ chat_id, text })
    }
  }
}

const keyboard = Keyboard.make([Keyboard.callback("OK", "ok")])

let updates = 0

let revisions = 0

/**
 * Handles one update until its handler succeeds, in as many processes as are needed. Process `n` is killed at the point
 * `kills[n]`. Returns whether all kills happened.
 */
export const handle = Effect.fnUntraced(function* (
  scene: Scene,
  program: ReadonlyArray<Action>,
  kills: ReadonlyArray<number>,
  maxAttempts = 12
) {
  const { message } = Fixtures.messageCreated()
  const update: Update.Update = {
    update_type: "message_created",
    timestamp: yield* Clock.currentTimeMillis,
    message: {
      ...message!,
      recipient: { chat_id: scene.dialog, chat_type: "dialog" },
      body: { ...message!.body!, mid: Message.MessageId.make(`update ${updates++}`) }
    }
  }
  const queued = QueuedUpdate.fromDecoded(Result.succeed(update) as Result.Success<Update.Update, never>, {
    receivedAt: update.timestamp
  })
  const stored: Stored = { entries: new Map() }
  let attempt = 0
  for (let process = 0; ; process++) {
    const life = new Life(kills[process] ?? Infinity)
    live(life)
    const open = yield* journal.make({ outage: Outage.make("The inbox"), nextRevision: () => String(++revisions) })
    const ofUpdate = open(queued, [...stored.entries.values()], recordIn(stored, life))
    for (;;) {
      if (++attempt > maxAttempts) return { isKilled: process === kills.length, isHandled: false }
      ofUpdate.begin()
      const fiber = yield* Effect.forkDetach(
        Effect.forEach(program, (action) => perform(scene, life, action, attempt), { discard: true }).pipe(
          Effect.provideService(CurrentUpdate, {
            journal: ofUpdate,
            changes: undefined,
            answers: undefined,
            entry: undefined,
            statements: undefined,
            record: undefined
          }),
          Effect.provideService(Journal.CurrentPolicy, scene.policy)
        )
      )
      const exit = yield* Effect.raceFirst(Fiber.await(fiber), Deferred.await(life.death))
      if (life.isDead) {
        // Finalizers of a dead process do not come to their end.
        fiber.interruptUnsafe()
        yield* TestClock.adjust("20 millis")
        break
      }
      if (exit !== undefined && Exit.isSuccess(exit)) {
        ofUpdate.close()
        // The next update is handled by another process.
        yield* TestClock.adjust("2 seconds")
        return { isKilled: process >= kills.length, isHandled: true }
      }
      yield* TestClock.adjust("5 millis")
    }
  }
}, Effect.scoped)
