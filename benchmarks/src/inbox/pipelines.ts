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
import { start } from "./processes.ts"
import { fill } from "./traffic.ts"

const total = 20_000

const chats = 300

export const lease = "1 second"

const kills: Readonly<Record<"sqlite" | "postgres" | "redis", number>> = { sqlite: 17, postgres: 17, redis: 16 }

/** Without a newly handled update for this long, in milliseconds, a pipeline stands still. */
const maxIdle = 15_000

const maxStalled = 5

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

interface Outcome {
  /** Updates that are not handled and not in the inbox any more. */
  readonly lost: number
  readonly kills: number
  /** The pipelines that stood still. */
  readonly stalled: ReadonlyArray<string>
}

const outcomeOf = (store: keyof typeof kills): Promise<Outcome> =>
  places.withPlace(store, async (place) => {
    const file = join(tmpdir(), `${place.name}.log`)
    writeFileSync(file, "")
    const judge = makeJudge()
    const log = follow(file, judge.onLine)
    const inbox = Inbox.layer().pipe(Layer.provide(places.layer(place)), Layer.provideMerge(Logger.layer([])))
    const stalled: Array<string> = []
    try {
      await Effect.runPromise(Effect.provide(fill(0, total, chats), inbox))
      let killed = 0
      for (let run = 0; judge.handled.size < total && stalled.length < maxStalled; run++) {
        const isLast = killed === kills[store]
        // Each run that is killed handles about an equal part of what is left. The last one is a plain pipeline.
        const part = (total - judge.handled.size) / (kills[store] - killed + 1)
        const goal = isLast ? total : judge.handled.size + Math.max(1, Math.random() * 2 * part)
        const program = start("pipelineBot.ts", [
          ...places.toArguments(place),
          file,
          String(run),
          isLast ? "plain" : "random"
        ])
        let since = performance.now()
        let seen = judge.handled.size
        while (!program.hasEnded() && seen < goal && performance.now() - since < maxIdle) {
          await sleep(2)
          log.read()
          if (judge.handled.size > seen) since = performance.now()
          seen = judge.handled.size
        }
        if (program.hasEnded()) {
          if ((await program.exited) !== 0) {
            throw new Error(`The pipeline ended with ${await program.exited}: ${judge.pipelineOf(run)}`)
          }
          continue
        }
        if (seen < goal) stalled.push(judge.pipelineOf(run))
        await sleep(Math.random() * 20)
        await program.kill()
        killed++
        if (isLast) break
      }
      log.read()
      const { queued } = await Effect.runPromise(
        Effect.provide(
          Inbox.Inbox.use(({ stats }) => stats),
          inbox
        )
      )
      return { lost: Math.max(0, total - judge.handled.size - queued), kills: killed, stalled }
    } finally {
      log.close()
      rmSync(file)
    }
  })

/** How many updates were lost by random pipelines whose processes were killed. */
export const earlyAcks = async (): Promise<Measured> => {
  const outcomes = await Promise.all(
    (["sqlite", "postgres", "redis"] as const).map(async (store) => ({ store, ...(await outcomeOf(store)) }))
  )
  const stalled = outcomes.flatMap(({ stalled }) => stalled)
  if (stalled.length > 0) throw new Error(`These pipelines stood still:\n${stalled.join("\n")}`)
  return {
    value: outcomes.reduce((sum, { lost }) => sum + lost, 0),
    detail: outcomes.map(({ kills, lost, store }) => `${store} ${lost} after ${kills} kills`).join(", ")
  }
}
