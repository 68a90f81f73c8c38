import { Inbox } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Measured } from "../figure.ts"
import * as places from "./places.ts"
import { start } from "./processes.ts"
import { fill } from "./traffic.ts"

const total = 600

const chats = 100

/** The update whose handler aborts its process. Other updates of its chat come before and after it. */
export const fatal = 205

export const lease = "1 second"

/** The default of `maxCrashes`. */
const maxCrashes = 3

/** A process that is started this often has not put the fatal update aside. */
const maxStarts = 10

interface Outcome {
  /** Neighbours that were not handled or became dead letters, and 1 if the fatal update is not a dead letter. */
  readonly wrong: number
  readonly detail: string
}

const outcomeOf = (store: places.Store): Promise<Outcome> =>
  places.withPlace(store, async (place) => {
    const file = join(tmpdir(), `${place.name}.log`)
    writeFileSync(file, "")
    const withInbox = <A, E>(effect: Effect.Effect<A, E, Inbox.Inbox>) =>
      Effect.runPromise(
        Effect.provide(
          effect,
          Inbox.layer().pipe(Layer.provide(places.layer(place)), Layer.provideMerge(Logger.layer([])))
        )
      )
    try {
      await withInbox(fill(0, total, chats))
      let starts = 0
      for (let code: number | NodeJS.Signals = 1; code !== 0 && starts < maxStarts; starts++) {
        // Node prints the stacks of an aborted process.
        code = await start("crashBot.ts", [...places.toArguments(place), file], { errors: "ignore" }).exited
      }
      const lines = readFileSync(file, "latin1").trimEnd().split("\n")
      const ended = new Set(lines.flatMap((line) => (line.startsWith("end ") ? [Number(line.slice(4))] : [])))
      const fatalBegun = lines.filter((line) => line === `begin ${fatal}`).length
      const dead = await withInbox(Stream.runCollect(Inbox.deadLetters))
      const deadIndices = dead.map(({ update }) => (JSON.parse(update.text) as { timestamp: number }).timestamp)
      const lost = total - 1 - ended.size
      const deadNeighbours = deadIndices.filter((index) => index !== fatal).length
      const isAside = deadIndices.includes(fatal) && fatalBegun === maxCrashes
      return {
        wrong: lost + deadNeighbours + (isAside ? 0 : 1),
        detail: `${store} ${starts - 1} crashes, ${lost} lost, ${deadNeighbours} dead`
      }
    } finally {
      rmSync(file)
    }
  })

/** What an update that aborts its process each time does to its neighbours. */
export const survivors = async (): Promise<Measured> => {
  const outcomes: Array<Outcome> = []
  for (const store of ["sqlite", "postgres", "redis"] as const) outcomes.push(await outcomeOf(store))
  return {
    value: outcomes.reduce((sum, { wrong }) => sum + wrong, 0),
    detail: outcomes.map(({ detail }) => detail).join("; ")
  }
}
