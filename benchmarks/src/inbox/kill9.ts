import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Measured } from "../figure.ts"
import { follow } from "./follow.ts"
import * as places from "./places.ts"
import { type Program, start } from "./processes.ts"

const stores = ["sqlite", "postgres", "redis"] as const

export const total = 10_000

export const chats = 200

export const concurrency = 16

/** Long enough for a slow machine, short enough for twenty kills. */
export const lease = "2 seconds"

const kills = 20

/** Without progress for this long, in milliseconds, the run has ended. */
const maxIdle = 30_000

interface Outcome {
  readonly lost: number
  /** The highest number of updates that one kill repeated. */
  readonly twice: number
}

/** Runs a bot until a number of updates is handled, or until it makes no progress. */
const workUntil = async (bot: Program<never, never>, handled: () => number, goal: number): Promise<void> => {
  let seen = handled()
  let since = performance.now()
  while (seen < goal) {
    if (bot.hasEnded()) throw new Error(`The bot ended with ${await bot.exited} after ${seen} updates`)
    await sleep(2)
    const now = handled()
    if (now > seen) since = performance.now()
    else if (performance.now() - since > maxIdle) return
    seen = now
  }
}

const judge = (log: string): Outcome => {
  const begun = new Map<number, Array<number>>()
  const ended = new Set<number>()
  const last = new Map<number, number>()
  for (const line of log.trimEnd().split("\n")) {
    const [run, what, at] = line.split(" ")
    const index = Number(at)
    if (what === "begin") begun.set(index, [...(begun.get(index) ?? []), Number(run)])
    else if (!ended.has(index)) {
      const chat = index % chats
      if ((last.get(chat) ?? -1) > index) throw new Error(`Update ${index} was handled after a later one of its chat`)
      last.set(chat, index)
      ended.add(index)
    }
  }
  const again = new Map<number, number>()
  for (const runs of begun.values()) for (const run of runs.slice(0, -1)) again.set(run, (again.get(run) ?? 0) + 1)
  return { lost: total - ended.size, twice: Math.max(0, ...again.values()) }
}

const outcomeOf = (store: places.Store): Promise<Outcome> =>
  places.withPlace(store, async (place) => {
    const file = join(tmpdir(), `${place.name}.log`)
    writeFileSync(file, "")
    const ended = new Set<number>()
    const log = follow(file, (line) => {
      const [, what, index] = line.split(" ")
      if (what === "end") ended.add(Number(index))
    })
    const handled = () => {
      log.read()
      return ended.size
    }
    const goals = Array.from({ length: kills }, () => Math.floor(Math.random() * total)).sort((a, b) => a - b)
    try {
      for (const [run, goal] of [...goals, total].entries()) {
        const bot = start<never, never>("kill9Bot.ts", [...places.toArguments(place), file, String(run)])
        // Two thresholds may be equal, so the bot has to handle an update first.
        await workUntil(bot, handled, goal === total ? total : Math.max(goal, handled() + 1))
        await sleep(Math.random() * 20)
        await bot.kill()
      }
      return judge(readFileSync(file, "latin1"))
    } finally {
      log.close()
      rmSync(file)
    }
  })

let measured: Promise<ReadonlyArray<readonly [store: string, outcome: Outcome]>> | undefined

const outcomes = () =>
  (measured ??= (async () => {
    const all: Array<readonly [string, Outcome]> = []
    for (const store of stores) all.push([store, await outcomeOf(store)])
    return all
  })())

const worst = (of: keyof Outcome) => async (): Promise<Measured> => {
  const all = await outcomes()
  return {
    value: Math.max(...all.map(([, outcome]) => outcome[of])),
    detail: all.map(([store, outcome]) => `${store} ${outcome[of]}`).join(", ")
  }
}

/** How many of 10,000 updates were never handled, after 20 kills. */
export const lost = worst("lost")

/** The highest number of updates that one kill repeated. */
export const twice = worst("twice")
