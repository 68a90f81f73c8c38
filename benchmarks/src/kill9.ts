import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { Measured } from "./figure.ts"
import { chats, isStore, stores, total } from "./kill9-stores.ts"

const kills = 20

/** Without progress for this long, in milliseconds, the run has ended. */
const maxIdle = 30_000

const workspace = fileURLToPath(new URL("..", import.meta.url))

interface Outcome {
  readonly lost: number
  /** The highest number of updates that one kill repeated. */
  readonly twice: number
}

/** Counts the updates that were handled for the first time, as the log file grows. */
const follow = (file: string) => {
  const opened = openSync(file, "r")
  const buffer = Buffer.alloc(1 << 16)
  const ended = new Set<number>()
  let rest = ""
  return {
    handled: (): number => {
      for (let size = readSync(opened, buffer); size > 0; size = readSync(opened, buffer)) {
        const lines = (rest + buffer.toString("latin1", 0, size)).split("\n")
        rest = lines.pop()!
        for (const line of lines) {
          const [, what, index] = line.split(" ")
          if (what === "end") ended.add(Number(index))
        }
      }
      return ended.size
    },
    close: () => closeSync(opened)
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/** Runs a child until a number of updates is handled, or until it makes no progress. */
const workUntil = async (child: ChildProcess, handled: () => number, goal: number): Promise<void> => {
  let seen = handled()
  let since = performance.now()
  while (seen < goal) {
    if (hasEnded(child)) throw new Error(`The child exited with ${child.exitCode} after ${seen} updates`)
    await sleep(2)
    const now = handled()
    if (now > seen) since = performance.now()
    else if (performance.now() - since > maxIdle) return
    seen = now
  }
}

const kill = async (child: ChildProcess): Promise<void> => {
  const closed = new Promise((resolve) => child.once("close", resolve))
  child.kill("SIGKILL")
  if (!hasEnded(child)) await closed
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

const outcomeOf = async (store: keyof typeof stores): Promise<Outcome> => {
  const name = `kill9_${randomBytes(4).toString("hex")}`
  const file = join(tmpdir(), `${name}.log`)
  writeFileSync(file, "")
  const { handled, close } = follow(file)
  const goals = Array.from({ length: kills }, () => Math.floor(Math.random() * total)).sort((a, b) => a - b)
  try {
    for (const [run, goal] of [...goals, total].entries()) {
      const args = ["--conditions=source", "--no-warnings", "src/kill9-child.ts", store, name, file, String(run)]
      const child = spawn(process.execPath, args, { cwd: workspace, stdio: ["ignore", "ignore", "inherit"] })
      // Two thresholds may be equal, so the child has to handle an update first.
      await workUntil(child, handled, goal === total ? total : Math.max(goal, handled() + 1))
      await sleep(Math.random() * 20)
      await kill(child)
    }
    return judge(readFileSync(file, "latin1"))
  } finally {
    close()
    rmSync(file)
    await Effect.runPromise(stores[store](name).clear)
  }
}

let measured: Promise<ReadonlyArray<readonly [store: string, outcome: Outcome]>> | undefined

const outcomes = () =>
  (measured ??= (async () => {
    const all: Array<readonly [string, Outcome]> = []
    for (const store of Object.keys(stores).filter(isStore)) all.push([store, await outcomeOf(store)])
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
