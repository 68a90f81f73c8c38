/** Opens a database after a power failure, and compares it with what was confirmed before. */
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite, SqlInboxStore } from "@colloquy/node"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type { QueuedUpdate } from "@colloquy/core/inbox/QueuedUpdate"
import { shifted } from "../clocks.ts"
import { type Mark, numbersName } from "./protocol.ts"

/** `lost`: something confirmed is missing. `broken`: the database is corrupt, or has a part of a transaction. */
export interface Problem {
  readonly kind: "lost" | "broken"
  readonly text: string
}

const many = 10_000

const hour = 3_600_000

const numberOf = ({ decoded }: QueuedUpdate): number | undefined => {
  if (Result.isFailure(decoded)) return undefined
  const update = decoded.success
  return update.update_type === "message_created" ? Number(update.message?.body?.text) : undefined
}

const readAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const integrity = yield* sql<{ integrity_check: string }>`PRAGMA integrity_check`
  const store = yield* InboxStore.InboxStore
  const queued = yield* store.updates({ of: "queue", limit: many })
  const dead = yield* store.updates({ of: "deadLetters", limit: many })
  const states = yield* store.rows({ prefix: `state/${numbersName}/`, by: "key", limit: many })
  const timers = yield* store.rows({ prefix: "timer/", by: "due", limit: many })
  const [marker] = yield* store.read(["marker/updates"])
  const claim = { owner: "auditor", leaseDuration: 0, maxPartitions: many, maxUpdates: many, begin: 0 }
  const claimed = yield* store.claim(claim)
  return {
    integrity: integrity.map(({ integrity_check }) => integrity_check).join(", "),
    marker: BigInt(marker?.text ?? 0),
    queuedIds: new Set(queued.map(({ id }) => id)),
    queued: queued.flatMap(({ update }) => numberOf(update) ?? []),
    dead: dead.flatMap(({ update }) => numberOf(update) ?? []),
    counted: states.flatMap(({ text }) => (JSON.parse(text) as [version: number, numbers: ReadonlyArray<number>])[1]),
    timers: timers.map(({ text }) => Number((JSON.parse(text) as { readonly value: string }).value)),
    journals: new Map(
      claimed.flatMap(({ updates }) => updates.map(({ journal = [], update }) => [numberOf(update), journal] as const))
    ),
    claimed: claimed.flatMap(({ updates }) => updates.flatMap(({ update }) => numberOf(update) ?? []))
  }
})

const sorted = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b).join(" ")

/** The database was read with the marks that were made before the power failed. */
const compare = (found: Effect.Success<typeof readAll>, marks: ReadonlyArray<Mark>): ReadonlyArray<Problem> => {
  const problems: Array<Problem> = []
  const report = (kind: Problem["kind"], text: string) => void problems.push({ kind, text })
  const places = [...found.queued, ...found.dead, ...found.counted]
  const known = new Set(places)
  const queued = new Set(found.queued)
  if (found.integrity !== "ok") report("broken", `The check of the integrity said: ${found.integrity}`)
  if (known.size !== places.length) report("broken", `An update is at two places: ${sorted(places)}`)
  if (sorted(found.timers) !== sorted(found.counted)) {
    report("broken", `The state has ${sorted(found.counted)}, but the timers are ${sorted(found.timers)}`)
  }
  if (sorted(found.claimed) !== sorted(found.queued)) {
    report("broken", `${sorted(found.queued)} are queued, but ${sorted(found.claimed)} were claimed`)
  }
  for (const mark of marks) {
    switch (mark.type) {
      case "stored":
        if (!known.has(mark.number)) report("lost", `Update ${mark.number} was stored, but is missing`)
        break
      case "page":
        if (found.marker < BigInt(mark.marker)) report("lost", `The marker ${mark.marker} is now ${found.marker}`)
        break
      case "settled":
        if (found.queuedIds.has(mark.id)) report("lost", `The update with the id ${mark.id} was settled, but is queued`)
        break
      case "sent": {
        if (!queued.has(mark.number)) break
        const journal = found.journals.get(mark.number) ?? []
        const hasStep = journal.some(({ key, text }) => key.startsWith("done:") && text.includes(mark.receipt))
        if (!hasStep) report("lost", `Update ${mark.number} does not know the result of its step`)
        if (journal.length < 2) report("lost", `Update ${mark.number} does not know that it sent a message`)
      }
    }
  }
  return problems
}

/** What is wrong with the database in a file. The store opens it as a bot does after the restart of the machine. */
export const audit = (filename: string, marks: ReadonlyArray<Mark>): Effect.Effect<ReadonlyArray<Problem>> => {
  // In an hour, the leases of the bot have ended. What is read here need not survive anything.
  const sql = NodeSqlite.layer({ filename, synchronous: "OFF" })
  return readAll.pipe(
    Effect.map((found) => compare(found, marks)),
    Effect.provide(Layer.provideMerge(SqlInboxStore.layer(), sql)),
    Effect.provideService(Clock.Clock, shifted(hour)),
    Effect.catchCause((cause) => Effect.succeed([{ kind: "broken", text: String(cause) } satisfies Problem]))
  )
}
