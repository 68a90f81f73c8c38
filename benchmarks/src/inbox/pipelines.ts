import { Inbox } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Measured } from "../figure.ts"
import { follow } from "./follow.ts"
import * as places from "./places.ts"
import { type Program, start } from "./processes.ts"
import { fill } from "./traffic.ts"

const total = 20_000

const chats = 300

export const lease = "1 second"

type Store = "sqlite" | "postgres" | "redis"

const kills: Readonly<Record<Store, number>> = { sqlite: 17, postgres: 17, redis: 16 }

/** Without a newly handled update for this long, in milliseconds, a pipeline stands still. */
const maxIdle = 20_000

/** Which updates were handled by all branches of a pipeline. */
const makeJudge = () => {
  const branchesOf = new Map<string, number>()
  const pipelineOf = new Map<string, string>()
  /** By run and update: the branches that handled it, as bits. */
  const handledBy = new Map<string, number>()
  /** By run and update: the branches that have to handle it, if a filter dropped it. */
  const requiredOf = new Map<string, number>()
  const handled = new Set<number>()
  const all = (branches: number) => 2 ** branches - 1
  return {
    handled,
    pipelineOf: (run: number) => pipelineOf.get(String(run)) ?? "",
    onLine: (line: string): void => {
      const [run, what, index, ...rest] = line.split(" ")
      if (what === "pipeline") {
        branchesOf.set(run!, Number(index))
        pipelineOf.set(run!, rest.join(" "))
        return
      }
      const key = `${run} ${index}`
      if (what!.startsWith("dropped-after-")) {
        // Only the branches before a filter handle what it drops, and they may end later.
        requiredOf.set(key, all(Number(what!.slice("dropped-after-".length))))
      } else handledBy.set(key, (handledBy.get(key) ?? 0) | (1 << Number(what)))
      const required = requiredOf.get(key) ?? all(branchesOf.get(run!)!)
      if (((handledBy.get(key) ?? 0) & required) === required) handled.add(Number(index))
    }
  }
}

const lostOf = (store: Store): Promise<number> =>
  places.withPlace(store, async (place) => {
    const file = join(tmpdir(), `${place.name}.log`)
    writeFileSync(file, "")
    const { handled, onLine, pipelineOf } = makeJudge()
    const log = follow(file, onLine)

    const withInbox = <A, E>(effect: Effect.Effect<A, E, Inbox.Inbox>) =>
      Effect.runPromise(
        Effect.provide(
          effect,
          Inbox.layer().pipe(Layer.provide(places.layer(place)), Layer.provideMerge(Logger.layer([])))
        )
      )

    const queued = () => withInbox(Inbox.Inbox.use(({ stats }) => Effect.map(stats, ({ queued }) => queued)))

    /** Runs a pipeline until a number of updates is handled, or until it ends. Returns whether it ended. */
    const workUntil = async (program: Program<never, never>, run: number, goal: number): Promise<boolean> => {
      let seen = handled.size
      for (let since = performance.now(); !program.hasEnded() && seen < goal;) {
        await sleep(2)
        log.read()
        if (handled.size > seen) since = performance.now()
        else if (performance.now() - since > maxIdle) {
          // Updates that are neither handled nor in the inbox are lost, and are not waited for.
          if ((await queued()) === 0) return false
          throw new Error(`A pipeline stands still: ${pipelineOf(run)}`)
        }
        seen = handled.size
      }
      if (!program.hasEnded()) return false
      const how = await program.exited
      if (how !== 0) throw new Error(`A pipeline ended with ${how}: ${pipelineOf(run)}`)
      return true
    }

    const run = async (index: number, kind: "random" | "plain", goal: number): Promise<boolean> => {
      const program = start<never, never>("pipelineBot.ts", [...places.toArguments(place), file, String(index), kind])
      try {
        if (await workUntil(program, index, goal)) return true
        await sleep(Math.random() * 20)
        return false
      } finally {
        await program.kill()
      }
    }

    try {
      await withInbox(fill(0, total, chats))
      let index = 0
      for (let killed = 0; killed < kills[store] && (await queued()) > 0; index++) {
        // The pipelines that are killed handle about equal parts of what is left.
        const part = (total - handled.size) / (kills[store] - killed + 1)
        const hasEnded = await run(
          index,
          "random",
          Math.min(total, handled.size + Math.max(1, Math.random() * 2 * part))
        )
        if (!hasEnded) killed++
      }
      // Ends when the inbox is empty.
      await run(index, "plain", Infinity)
      log.read()
      return total - handled.size
    } finally {
      log.close()
      rmSync(file)
    }
  })

/** How many updates were lost by random pipelines whose processes were killed. */
export const earlyAcks = async (): Promise<Measured> => {
  const stores = ["sqlite", "postgres", "redis"] as const
  const lost = await Promise.all(stores.map(lostOf))
  return {
    value: lost.reduce((sum, count) => sum + count, 0),
    detail: stores.map((store, index) => `${store} ${lost[index]} after ${kills[store]} kills`).join(", ")
  }
}
