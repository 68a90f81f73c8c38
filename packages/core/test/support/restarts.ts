/** Bots that are killed again and again, each with the inbox of the one before. */
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import { Handler, Inbox, Journal, Me, Message, Update, Updates } from "../../src/index.ts"
import * as InboxStore from "../../src/InboxStore.ts"
import { Life, live, perform, type Action, type Scene } from "./mortal.ts"

type Store = InboxStore.InboxStore["Service"]

/** A store that a process uses: an operation is a point before and after which the process can be killed. */
const mortalStore = (store: Store, { point }: Life): Store => {
  const mortal =
    <A extends ReadonlyArray<unknown>, B, E>(operation: (...args: A) => Effect.Effect<B, E>) =>
    (...args: A): Effect.Effect<B, E> =>
      point.pipe(Effect.andThen(Effect.suspend(() => operation(...args))), Effect.tap(point))
  return {
    ...store,
    isShared: true,
    claim: mortal(store.claim),
    commit: mortal(store.commit),
    renew: mortal(store.renew),
    release: mortal(store.release),
    journal: store.journal && { record: mortal(store.journal.record) }
  }
}

const { message } = Fixtures.messageCreated()

const received = (scene: Scene, index: number, timestamp: number): Inbox.Received => {
  const update: Update.Update = {
    update_type: "message_created",
    timestamp,
    message: {
      ...message!,
      recipient: { chat_id: scene.dialog, chat_type: "dialog" },
      body: { mid: Message.MessageId.make(`update ${index}`), seq: 1n, text: `${index}` }
    }
  }
  return { decoded: Result.succeed(update) }
}

const indexOf = (update: Update.Update): number => Number(Update.textOf(update))

/**
 * Handles one update for each program, in as many processes as are needed: process `n` is killed at the point `kills[n]`, or
 * is the last one. Returns whether all processes were killed that should be, and whether all updates were handled.
 */
export const runProcesses = Effect.fnUntraced(function* (
  scene: Scene,
  programs: ReadonlyArray<ReadonlyArray<Action>>,
  kills: ReadonlyArray<number>
) {
  const store = yield* InboxStore.makeMemory
  const bot = (life: Life) =>
    Updates.run(
      (update) =>
        Effect.flatMap(Handler.CurrentAttempt, (attempt) =>
          Effect.forEach(programs[indexOf(update)]!, (action) => perform(scene, life, action, attempt), {
            discard: true
          })
        ).pipe(Effect.provideService(Journal.CurrentPolicy, scene.policy)),
      { retry: Schedule.spaced("1 second"), maxCrashes: 1000 }
    )
  // As every bot, it has sent a request before it sends a message.
  const start = (life: Life) =>
    Effect.forkDetach(
      Inbox.Inbox.use((inbox) =>
        Effect.andThen(
          Me.get(),
          Effect.provideService(
            bot(life),
            Updates.Updates,
            Updates.Updates.of({ inbox, source: Effect.never } as never)
          )
        )
      ).pipe(
        Effect.provide(Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, mortalStore(store, life))))
      )
    )
  const queue = Effect.scoped(
    Effect.provide(
      Inbox.Inbox.use((inbox) =>
        Effect.forEach(programs, (_, index) => inbox.receive([received(scene, index, index)]), { discard: true })
      ),
      Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, store))
    )
  )
  yield* queue
  for (let process = 0; ; process++) {
    const life = new Life(kills[process] ?? Infinity)
    live(life)
    const fiber = yield* start(life)
    for (let millis = 0; !life.isDead; millis += 500) {
      yield* TestClock.adjust("500 millis")
      const { queued } = yield* store.stats
      if (queued > 0 && millis < 120_000) continue
      life.kill()
      fiber.interruptUnsafe()
      return { isKilled: process >= kills.length, isHandled: queued === 0 }
    }
  }
})
