import { Inbox, State } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { lazily, type Measured } from "../figure.ts"
import * as places from "../inbox/places.ts"
import { start } from "../processes.ts"
import { judge } from "./judge.ts"
import { chats, kills, stores, timers, updates } from "./options.ts"
import type { Answer, Question } from "./platform.ts"
import { InChat, OfUser, Rung } from "./kept.ts"
import { fill, type Scenario } from "./scenario.ts"

export interface Outcome {
  readonly name: string
  /** Messages that do not stand in the chats. */
  readonly missing: number
  /** Messages that stand in the chats more often than they were sent. */
  readonly doubled: number
  /** Calls of unknown outcome that the bots have repeated, by their metric. */
  readonly repeated: number
  /** Differences between the sums of the counters in the state and the number of acknowledged updates. */
  readonly disagreements: number
}

/** Without progress for this long, in milliseconds, the run has ended. A process can take half a minute to start on a busy machine. */
const maxIdle = 120_000

/** Starts a process of a bot, and again when it is killed. */
const makeBot = (args: ReadonlyArray<string>, url: string, nextRun: () => number) => {
  const run = () => start<never, never>("once/bot.ts", [...args, String(nextRun()), url])
  let program = run()
  return {
    check: async () => {
      if (program.hasEnded()) throw new Error(`The bot ended with ${await program.exited}`)
    },
    kill: () => program.kill(),
    restart: async () => {
      await program.kill()
      program = run()
    }
  }
}

const repeatedIn = (log: string): number => {
  const last = new Map<string, number>()
  for (const line of log.split("\n")) {
    const [run, count] = line.split(" ")
    if (count !== undefined) last.set(run, Number(count))
  }
  return [...last.values()].reduce((sum, count) => sum + count, 0)
}

const sumOf = <O extends "chat" | "user">(state: State.State<number, O>) =>
  State.stream(state).pipe(
    Stream.mapEffect(({ value }) => Effect.fromResult(value)),
    Stream.runFold(
      () => 0,
      (sum, value) => sum + value
    )
  )

export const outcomeOf = (store: places.Store, processes: number, scenario: Scenario): Promise<Outcome> =>
  places.withPlace(store, async (place) => {
    const file = join(tmpdir(), `${place.name}.log`)
    writeFileSync(file, "")
    const platform = start<Question, Answer>("once/platform.ts", [String(chats), scenario.role])
    const inbox = ManagedRuntime.make(places.layerInbox(place))
    const bots: Array<ReturnType<typeof makeBot>> = []
    try {
      const { chats: ids, url } = await platform.next<Extract<Answer, { is: "ready" }>>()
      await inbox.runPromise(fill(scenario, ids))
      let runs = 0
      for (let process = 0; process < processes; process++) {
        bots.push(makeBot([...places.toArguments(place), file], url, () => runs++))
      }

      let seen = -1
      let since = performance.now()
      /** Returns whether the platform has more messages than given, or `undefined` if the bots make no progress. */
      const progress = async (): Promise<number | undefined> => {
        const { messages } = await platform.ask<Extract<Answer, { is: "count" }>>({ ask: "count" })
        if (messages > seen) since = performance.now()
        seen = messages
        return performance.now() - since > maxIdle ? undefined : messages
      }
      const workUntil = async (isDone: (messages: number) => boolean | Promise<boolean>): Promise<boolean> => {
        for (;;) {
          for (const bot of bots) await bot.check()
          const messages = await progress()
          if (messages === undefined) return false
          if (await isDone(messages)) return true
          await sleep(5)
        }
      }

      const total = scenario.count * (scenario.of === "presses" ? 4 : 1)
      const goals = Array.from({ length: kills }, () => Math.floor(Math.random() * total * 0.98)).sort((a, b) => a - b)
      for (const goal of goals) {
        // A process that was killed has to send something before the next kill.
        const least = Math.max(goal, seen + 1)
        if (!(await workUntil((messages) => messages >= least))) break
        await sleep(Math.random() * 20)
        await bots[Math.floor(Math.random() * bots.length)].restart()
      }
      const queued = Inbox.Inbox.use(({ stats, store }) => Effect.all({ stats, next: store.untilNext }))
      await workUntil(async (messages) => {
        if (messages < total) return false
        const { next, stats } = await inbox.runPromise(queued)
        return stats.queued === 0 && next === undefined
      })
      for (const bot of bots) await bot.kill()
      const { stats } = await inbox.runPromise(queued)
      if (stats.queued > 0) throw new Error(`${store}: ${stats.queued} updates are still queued`)
      if (stats.deadLetters > 0) throw new Error(`${store}: ${stats.deadLetters} updates became dead letters`)
      const [inChat, ofUser, rung] = await inbox.runPromise(Effect.all([sumOf(InChat), sumOf(OfUser), sumOf(Rung)]))
      const presses = scenario.of === "presses" ? scenario.count : 0
      const { texts } = await platform.ask<Extract<Answer, { is: "texts" }>>({ ask: "texts" })
      return {
        name: `${store} ${processes}`,
        ...judge(scenario, texts),
        repeated: repeatedIn(readFileSync(file, "latin1")),
        disagreements: Math.abs(inChat - presses) + Math.abs(ofUser - presses) + Math.abs(rung - scenario.count)
      }
    } finally {
      for (const bot of bots) await bot.kill()
      await platform.kill()
      await inbox.dispose()
      rmSync(file)
    }
  })

/** The outcomes of all stores, with one process and with three. The stores run at the same time. */
const outcomesOf = async (scenario: Scenario): Promise<ReadonlyArray<Outcome>> => {
  const outcomes: Array<Outcome> = []
  for (const processes of [1, 3]) {
    outcomes.push(...(await Promise.all(stores.map((store) => outcomeOf(store, processes, scenario)))))
  }
  return outcomes
}

const readable = lazily(() => outcomesOf({ of: "presses", count: updates, role: "administrator" }))

const unreadable = lazily(() => outcomesOf({ of: "presses", count: updates, role: "member" }))

const ofTimers = lazily(() => outcomesOf({ of: "timers", count: timers, role: "administrator" }))

const total = (outcomes: ReadonlyArray<Outcome>, of: Exclude<keyof Outcome, "name">): number =>
  outcomes.reduce((sum, outcome) => sum + outcome[of], 0)

const detailOf = (outcomes: ReadonlyArray<Outcome>, of: Exclude<keyof Outcome, "name">): string =>
  `after ${kills} kills each: ${outcomes.map((outcome) => `${outcome.name} ${outcome[of]}`).join(", ")}`

const sum = (of: "missing" | "doubled" | "disagreements") => async (): Promise<Measured> => {
  const outcomes = await readable()
  return { value: total(outcomes, of), detail: detailOf(outcomes, of) }
}

/** Messages that do not stand in the chats after the kills. */
export const missing = sum("missing")

/** Messages that stand in the chats too often after the kills. */
export const doubled = sum("doubled")

/** How far the sums of the counters in the state are from the number of acknowledged updates. */
export const disagreements = sum("disagreements")

/** The highest number of doubled messages of a run whose bot may not read the chats, and how many no metric has counted. */
export const doubledUnread = async (): Promise<Measured> => {
  const outcomes = await unreadable()
  if (total(outcomes, "missing") > 0) throw new Error(`Messages are missing ${detailOf(outcomes, "missing")}`)
  return {
    value: Math.max(...outcomes.map(({ doubled }) => doubled)),
    also: Math.max(...outcomes.map(({ doubled, repeated }) => doubled - repeated), 0),
    detail: detailOf(outcomes, "doubled")
  }
}

/** Timers that were lost and timers that were carried out twice after the kills. */
export const timersLost = async (): Promise<Measured> => {
  const outcomes = await ofTimers()
  return {
    value: total(outcomes, "missing"),
    also: total(outcomes, "doubled"),
    detail: detailOf(outcomes, "missing")
  }
}
