import { Inbox } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { SqlClient } from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { setTimeout as sleep } from "node:timers/promises"
import type { Measured } from "../figure.ts"
import { start } from "../processes.ts"
import * as places from "./places.ts"
import { pageOf } from "./traffic.ts"

const total = 10_000

export const chats = 100

const kills = 50

const freezes = 10

export const lease = "2 seconds"

/** Longer than the lease, in milliseconds. */
const frozenFor = 2500

/** Without progress for this long, in milliseconds, the run has ended. */
const maxIdle = 30_000

/** Updates whose statement fails each time, unless a batch writes their row. */
export const isPoison = (index: number): boolean => index % 500 === 7

const tables = (serial: string) => [
  "CREATE TABLE counters (chat_id integer PRIMARY KEY, updates integer NOT NULL)",
  `CREATE TABLE handled (id ${serial}, chat_id integer NOT NULL, number integer NOT NULL CHECK (number >= 0))`
]

interface Row {
  readonly chat_id: number
  readonly number: number
}

/** Compares the rows, in the order of their ids, with the updates that are no dead letters. */
export const compareRows = (
  handled: ReadonlyArray<Row>,
  counters: ReadonlyMap<number, number>,
  dead: ReadonlySet<number>
): { readonly missing: number; readonly doubled: number; readonly outOfOrder: number; readonly miscounted: number } => {
  const numbers = new Set(handled.map(({ number }) => number))
  const settled = Array.from({ length: total }, (_, index) => index).filter((index) => !dead.has(index))
  const expected = Map.groupBy(settled, (index) => index % chats)
  const last = new Map<number, number>()
  let outOfOrder = 0
  for (const { chat_id, number } of handled) {
    if (number < (last.get(chat_id) ?? -1)) outOfOrder++
    last.set(chat_id, number)
  }
  return {
    missing: settled.filter((index) => !numbers.has(index)).length,
    doubled: handled.length - numbers.size + handled.filter(({ number }) => dead.has(number)).length,
    outOfOrder,
    miscounted: [...expected].filter(([chat, updates]) => counters.get(chat) !== updates.length).length
  }
}

const differencesOn = (store: "postgres" | "sqlite", processes: number) =>
  places.withPlace(store, async (place) => {
    const parent = ManagedRuntime.make(places.layerRows(place, { capacity: 1_000_000, deduplicationWindow: 0 }))
    const serial = store === "postgres" ? "bigserial PRIMARY KEY" : "INTEGER PRIMARY KEY AUTOINCREMENT"
    await parent.runPromise(
      SqlClient.use((sql) => Effect.forEach(tables(serial), (table) => sql.unsafe(table), { discard: true }))
    )
    let starts = 0
    /** On PostgreSQL, the third process writes batches. On SQLite, every second process does. */
    const startBot = async (at: number) => {
      const how = (processes === 1 ? starts++ % 2 === 1 : at === 2) ? "batches" : "handler"
      const bot = start<never, { readonly isReady: true }>("inbox/rowsBot.ts", [...places.toArguments(place), how])
      await bot.next()
      return bot
    }
    const bots = await Promise.all(Array.from({ length: processes }, (_, at) => startBot(at)))
    const events = kills + freezes
    const slice = Math.ceil(total / events)
    const stats = () => parent.runPromise(Inbox.Inbox.use(({ stats }) => stats))
    try {
      for (let event = 0; event < events; event++) {
        const first = event * slice
        const count = Math.min(slice, total - first)
        if (count > 0) await parent.runPromise(Inbox.Inbox.use((inbox) => inbox.receive(pageOf(first, count, chats))))
        await sleep(Math.random() * 300)
        const at = event % processes
        const { child, kill } = bots[at]!
        if (event % 6 === 5) {
          child.kill("SIGSTOP")
          await sleep(frozenFor)
          child.kill("SIGCONT")
        } else {
          await kill()
          bots[at] = await startBot(at)
        }
      }
      let left = Infinity
      for (let since = performance.now(); performance.now() - since < maxIdle;) {
        const { queued } = await stats()
        if (queued === 0) break
        if (queued < left) since = performance.now()
        left = queued
        await sleep(100)
      }
      const { queued } = await stats()
      const dead = await parent.runPromise(Stream.runCollect(Inbox.deadLetters))
      const indexOf = (text: string) => (JSON.parse(text) as { readonly timestamp: number }).timestamp
      const [handled, counters] = await parent.runPromise(
        SqlClient.use((sql) =>
          Effect.all([
            sql<Row>`SELECT chat_id, number FROM handled ORDER BY id`,
            sql<{ readonly chat_id: number; readonly updates: number }>`SELECT chat_id, updates FROM counters`
          ])
        )
      )
      const differences = compareRows(
        handled,
        new Map(counters.map(({ chat_id, updates }) => [chat_id, updates])),
        new Set(dead.map(({ update }) => indexOf(update.text)))
      )
      return { store, queued, dead: dead.length, ...differences }
    } finally {
      await Promise.all(bots.map(({ kill }) => kill()))
      await parent.dispose()
    }
  })

/** Rows that differ from the updates after kills and freezes. */
export const differences = async (): Promise<Measured> => {
  const measured = [await differencesOn("postgres", 3), await differencesOn("sqlite", 1)]
  return {
    value: measured.reduce(
      (sum, { doubled, miscounted, missing, outOfOrder, queued }) =>
        sum + doubled + miscounted + missing + outOfOrder + queued,
      0
    ),
    detail: measured
      .map(
        ({ dead, doubled, miscounted, missing, outOfOrder, queued, store }) =>
          `${store}: ${missing} missing, ${doubled} doubled, ${outOfOrder} out of order, ${miscounted} counters wrong, ${queued} left, ${dead} dead letters`
      )
      .join("; ")
  }
}
