import { Inbox } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Measured } from "../figure.ts"
import { start } from "../processes.ts"
import * as places from "./places.ts"
import { fill } from "./traffic.ts"

const stores = ["sqlite", "postgres", "redis"] as const

const total = 600

const indices = Array.from({ length: total }, (_, index) => index)

const chats = 100

/** The updates whose handlers abort their process. Other updates of their chats come before and after each. */
const fatalUpdates = [205, 61, 330, 478]

export const lease = "1 second"

/** The default of `maxCrashes`. */
const maxCrashes = 3

/** Processes that are started this often for each fatal update have not put them aside. */
const maxStarts = 10

interface Outcome {
  /** Neighbours that were not handled or became dead letters, and fatal updates that are no dead letters. */
  readonly wrong: number
  readonly detail: string
}

const outcomeOf = (store: places.Store, fatal: ReadonlyArray<number>): Promise<Outcome> =>
  places.withPlace(store, async (place) => {
    const file = join(tmpdir(), `${place.name}.log`)
    writeFileSync(file, "")
    const withInbox = <A, E>(effect: Effect.Effect<A, E, Inbox.Inbox>) =>
      Effect.runPromise(Effect.provide(effect, places.layerInbox(place)))
    try {
      await withInbox(fill(0, total, chats))
      let starts = 0
      for (let code: number | NodeJS.Signals = 1; code !== 0 && starts < maxStarts * fatal.length; starts++) {
        // Node prints the stacks of an aborted process.
        code = await start("inbox/crashBot.ts", [...places.toArguments(place), file, fatal.join()], {
          errors: "ignore"
        }).exited
      }
      const lines = readFileSync(file, "latin1").trimEnd().split("\n")
      const isEnded = new Set(lines.flatMap((line) => (line.startsWith("end ") ? [Number(line.slice(4))] : [])))
      const dead = await withInbox(Stream.runCollect(Inbox.deadLetters))
      const attemptsOf = new Map(
        dead.map(({ attempts, update }) => [(JSON.parse(update.text) as { timestamp: number }).timestamp, attempts])
      )
      const lost = indices.filter((index) => !fatal.includes(index) && !isEnded.has(index)).length
      const deadNeighbours = [...attemptsOf.keys()].filter((index) => !fatal.includes(index)).length
      const begun = (index: number) => lines.filter((line) => line === `begin ${index}`).length
      // A process can abort because of another update after an attempt was counted, and before its handler runs.
      const isAside = (index: number) => attemptsOf.get(index) === maxCrashes && begun(index) <= maxCrashes
      const notAside = fatal.filter((index) => !isAside(index)).length
      return {
        wrong: lost + deadNeighbours + notAside,
        detail: `${store} ${fatal.length} fatal: ${starts - 1} crashes, ${lost} lost, ${deadNeighbours} dead, ${notAside} not put aside`
      }
    } finally {
      rmSync(file)
    }
  })

/** What one to four updates that abort their process each time do to their neighbours. */
export const survivors = async (): Promise<Measured> => {
  const outcomes: Array<Outcome> = []
  // The processes mostly wait, so the stores are measured at the same time.
  for (let count = 1; count <= fatalUpdates.length; count++) {
    const fatal = fatalUpdates.slice(0, count)
    outcomes.push(...(await Promise.all(stores.map((store) => outcomeOf(store, fatal)))))
  }
  return {
    value: outcomes.reduce((sum, { wrong }) => sum + wrong, 0),
    detail: outcomes.map(({ detail }) => detail).join("; ")
  }
}
