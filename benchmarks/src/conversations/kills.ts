import { Inbox } from "@colloquy/core"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { setTimeout as sleep } from "node:timers/promises"
import type { Measured } from "../figure.ts"
import * as places from "../inbox/places.ts"
import { start } from "../inbox/processes.ts"
import type { Answer, Question } from "../once/platform.ts"
import { fill, judge, messages, type Verdict } from "./interview.ts"
import { chats, conversations, kills, stores } from "./options.ts"

/** Without a new message for this long, in milliseconds, the run has ended. */
const maxIdle = 30_000

/** Plays all conversations with a bot in a chat that it may read, which is killed after random messages. */
const play = (store: places.Store): Promise<Verdict> =>
  places.withPlace(store, async (place) => {
    const platform = start<Question, Answer>("../once/platform.ts", [String(chats), "administrator"])
    const ask = <A extends Answer>(ask: Question["ask"], is: A["is"]): Promise<A> => {
      const answer = platform.next<A>((message) => message.is === is)
      platform.send({ ask })
      return answer
    }
    const inbox = ManagedRuntime.make(
      Inbox.layer({ capacity: 1_000_000 }).pipe(
        Layer.provide(places.layer(place)),
        Layer.provideMerge(Logger.layer([]))
      )
    )
    const stats = () => inbox.runPromise(Inbox.Inbox.use(({ stats }) => stats))
    const { chats: ids, url } = await platform.next<Extract<Answer, { is: "ready" }>>(({ is }) => is === "ready")
    const run = () => start<never, never>("../conversations/killsBot.ts", [...places.toArguments(place), url])
    await inbox.runPromise(fill(conversations, ids))
    let bot = run()
    let seen = 0
    /** Waits for a number of messages. Returns `false` if there are no new ones any more. */
    const until = async (isDone: () => boolean | Promise<boolean>): Promise<boolean> => {
      for (let since = performance.now(); ; await sleep(5)) {
        if (bot.hasEnded()) throw new Error(`The bot ended with ${await bot.exited}`)
        const { messages } = await ask<Extract<Answer, { is: "count" }>>("count", "count")
        if (messages > seen) since = performance.now()
        seen = messages
        if (await isDone()) return true
        if (performance.now() - since > maxIdle) return false
      }
    }
    try {
      const total = messages(conversations)
      const goals = Array.from({ length: kills }, () => Math.random() * total * 0.98).sort((a, b) => a - b)
      for (const goal of goals) {
        // A process that was killed has to send something before the next kill.
        const least = Math.max(goal, seen + 1)
        if (!(await until(() => seen >= least))) break
        await sleep(Math.random() * 20)
        await bot.kill()
        bot = run()
      }
      await until(async () => seen >= total && (await stats()).queued === 0)
      await bot.kill()
      const { deadLetters, queued } = await stats()
      if (queued + deadLetters > 0)
        throw new Error(`${store}: ${queued} updates are queued, ${deadLetters} dead letters`)
      return judge(conversations, (await ask<Extract<Answer, { is: "texts" }>>("texts", "texts")).texts)
    } finally {
      await bot.kill()
      await platform.kill()
      await inbox.dispose()
    }
  })

/** Answers that are lost and messages that are doubled, in all stores. */
export const killed = async (): Promise<Measured> => {
  const verdicts = await Promise.all(stores.map(play))
  const sum = (of: keyof Verdict) => verdicts.reduce((sum, verdict) => sum + verdict[of], 0)
  return {
    value: sum("lost"),
    also: sum("doubled"),
    detail: `${conversations} conversations, ${kills} kills each: ${verdicts.map(({ lost }, index) => `${stores[index]} ${lost}`).join(", ")}`
  }
}
