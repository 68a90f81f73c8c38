/** A soak run: starts the platform and the bot, kills the bot again and again, and takes samples of it. */
import * as Effect from "effect/Effect"
import { type ChildProcess, fork } from "node:child_process"
import { randomBytes } from "node:crypto"
import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { BotCommands, BotTask } from "./bot.ts"
import type { PlatformCommands, PlatformTask } from "./platform.ts"
import { ask, concurrency, replyEvery } from "./protocol.ts"
import { compareHalves, type Halves, judge, problemsOf, type Report, type TimedSample } from "./report.ts"
import { type StoreName, stores } from "./stores.ts"

export interface Options extends PlatformTask {
  readonly store: StoreName
  /** The bot is killed after each of this many messages. */
  readonly killEvery: number
  /** A sample is taken after each of this many messages. */
  readonly sampleEvery: number
  readonly onSample?: (sample: TimedSample, platform: PlatformCommands["memory"], kills: number) => void
}

export interface Result {
  readonly kills: number
  readonly report: Report
  readonly samples: ReadonlyArray<TimedSample>
  readonly halves: ReadonlyArray<Halves>
  /** The conditions that do not hold. */
  readonly problems: ReadonlyArray<string>
}

/** Without progress for this long, in milliseconds, the run has ended. A reply that fails is retried for a minute. */
const maxIdle = 90_000

const start = (program: string, task: PlatformTask | BotTask, ...execArgv: ReadonlyArray<string>): ChildProcess =>
  fork(fileURLToPath(new URL(program, import.meta.url)), [JSON.stringify(task)], {
    execArgv: ["--conditions=source", "--no-warnings", ...execArgv],
    // The log of the bot is full of the faults.
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const kill = async (child: ChildProcess): Promise<void> => {
  if (hasEnded(child)) return
  const exit = once(child, "exit")
  child.kill("SIGKILL")
  await exit
}

const firstMessage = async <A>(child: ChildProcess): Promise<A> => {
  const ended = once(child, "exit").then(() => {
    throw new Error(`A process of the run ended with ${child.exitCode ?? child.signalCode}`)
  })
  ended.catch(() => {})
  const [message] = (await Promise.race([once(child, "message"), ended])) as [A]
  return message
}

/** Counts the messages that were handled, as the journal grows. */
const follow = (file: string) => {
  const opened = openSync(file, "r")
  const buffer = Buffer.alloc(1 << 16)
  const ended = new Set<string>()
  let rest = ""
  return {
    handled: (): number => {
      for (let size = readSync(opened, buffer); size > 0; size = readSync(opened, buffer)) {
        const lines = (rest + buffer.toString("latin1", 0, size)).split("\n")
        rest = lines.pop()!
        for (const line of lines) if (line.includes("end")) ended.add(line.split(" ")[2])
      }
      return ended.size
    },
    close: () => closeSync(opened)
  }
}

/** Runs once. The result says what was lost, and whether memory and handles are flat. */
export const soak = async ({ killEvery, onSample, sampleEvery, store, ...platformTask }: Options): Promise<Result> => {
  const { chats, total } = platformTask
  const name = `soak_${randomBytes(4).toString("hex")}`
  const journal = join(tmpdir(), `${name}.log`)
  writeFileSync(journal, "")
  const { close, handled } = follow(journal)
  const platform = start("platform.ts", platformTask, "--max-old-space-size=12288")
  const samples: Array<TimedSample> = []
  let bot: ChildProcess | undefined
  let kills = 0
  let bornAt = 0

  const takeSample = async (): Promise<void> => {
    const [sample, memory] = await Promise.all([
      ask<BotCommands>(bot!, "sample"),
      ask<PlatformCommands, "memory">(platform, "memory")
    ])
    if (sample === undefined || memory === undefined) return
    const timed = { ...sample, handled: handled(), age: Math.min(1, (handled() - bornAt) / killEvery) }
    samples.push(timed)
    onSample?.(timed, memory, kills)
  }

  const begin = async (url: string): Promise<ChildProcess> => {
    bornAt = handled()
    const child = start("bot.ts", { url, store, name, journal, run: kills }, "--expose-gc")
    bot = child
    await firstMessage(child)
    return child
  }

  /** Waits until `goal` messages are handled. Returns whether there was progress. */
  const progressTo = async (child: ChildProcess, goal: number): Promise<boolean> => {
    let nextSample = handled() + sampleEvery
    let seen = handled()
    for (let since = performance.now(); seen < goal; seen = handled()) {
      if (hasEnded(child))
        throw new Error(`The bot ended with ${child.exitCode ?? child.signalCode} after ${seen} messages`)
      await sleep(10)
      if (handled() > seen) since = performance.now()
      else if (performance.now() - since > maxIdle) return false
      if (seen >= nextSample) {
        nextSample += sampleEvery
        await takeSample()
      }
    }
    return true
  }

  try {
    const { url } = await firstMessage<{ readonly url: string }>(platform)
    let goal = killEvery
    while (goal < total) {
      if (!(await progressTo(await begin(url), goal))) break
      await sleep(Math.random() * 100)
      await kill(bot!)
      kills++
      goal = handled() + killEvery
    }
    const last = hasEnded(bot ?? platform) || bot === undefined ? await begin(url) : bot
    await progressTo(last, total)
    await takeSample()
    const replies = (await ask<PlatformCommands, "replies">(platform, "replies")) ?? []
    const deadLetters = samples.at(-1)?.deadLetters ?? 0
    const report = judge(readFileSync(journal, "latin1"), replies, { chats, deadLetters, replyEvery, total })
    const halves = compareHalves(samples)
    return { kills, report, samples, halves, problems: problemsOf(report, halves, kills * concurrency) }
  } finally {
    close()
    for (const child of [bot, platform]) if (child !== undefined) await kill(child)
    rmSync(journal)
    await Effect.runPromise(stores[store](name).clear)
  }
}
