import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type { BotApi, Handler, StoreError } from "../../src/index.ts"
import { Bot, Inbox, LongPolling } from "../../src/index.ts"
import * as InboxStore from "../../src/inbox/InboxStore.ts"
import { Life, live } from "./mortal.ts"

type Store = InboxStore.InboxStore["Service"]

/** The store of a process that can be killed before and after each operation. */
const storeOf = (store: Store, { point }: Life): Store => {
  const mortal =
    <A extends ReadonlyArray<unknown>, B>(operation: (...args: A) => Effect.Effect<B, StoreError.StoreError>) =>
    (...args: A): Effect.Effect<B, StoreError.StoreError> =>
      point.pipe(Effect.andThen(Effect.suspend(() => operation(...args))), Effect.tap(point))
  return {
    ...store,
    isShared: true,
    enqueue: mortal(store.enqueue),
    claim: mortal(store.claim),
    commit: mortal(store.commit),
    renew: mortal(store.renew),
    write: mortal(store.write),
    read: mortal(store.read)
  }
}

/** Starts a process of a bot. When it has ended, `restart` starts it again, and returns whether it did. */
export const startBot = Effect.fnUntraced(function* <E>(
  store: Store,
  bot: Handler.Handler<E, BotApi.BotApi | Inbox.Inbox>,
  killAt: number,
  maxCrashes = 1000
) {
  const start = (life: Life) => {
    live(life)
    const inbox = Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, storeOf(store, life)))
    const program = Effect.provide(
      Bot.run(bot, { maxCrashes }),
      Layer.fresh(Layer.provideMerge(LongPolling.layer(), inbox))
    )
    return Effect.map(Effect.forkDetach(program), (fiber) => ({ fiber, life }))
  }
  let process = yield* start(new Life(killAt))
  return {
    restart: Effect.gen(function* () {
      if (!process.life.isDead) return false
      yield* Effect.forkDetach(Fiber.interrupt(process.fiber))
      process = yield* start(new Life(Infinity))
      return true
    }),
    kill: Effect.suspend(() => {
      process.life.kill()
      return Effect.forkDetach(Fiber.interrupt(process.fiber))
    })
  }
})
