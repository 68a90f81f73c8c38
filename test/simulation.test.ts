import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as RateLimiterStore from "@colloquy/core/client/RateLimiterStore"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { defects } from "./simulation/defects/defects.ts"
import { planted } from "./simulation/defects/plant.ts"
import { planOf } from "./simulation/planning.ts"
import { programKinds } from "./simulation/programs/programs.ts"
import { makeReplicated } from "./simulation/replica.ts"
import { fingerprintOf, makeSimulation, simulate } from "./simulation/run.ts"
import { sqliteStore } from "./simulation/sqlite.ts"
import { makeDatabase } from "../packages/testing/src/simulation/internal/machine/database.ts"
import { traceOf } from "./simulation/trace.ts"
import { type Event, ofType } from "./simulation/history.ts"
import { auditHandling } from "./simulation/auditor/handling.ts"
import { epoch } from "../packages/testing/src/simulation/internal/world/world.ts"
import { Process } from "../packages/testing/src/simulation/internal/world/process.ts"

describe("the simulator", () => {
  it.each(programKinds)("repeats the history of a seed exactly, with the program %s", async (kind) => {
    for (const seed of [1, 2, 3]) {
      const plan = { ...planOf(seed, kind), quiet: 0 }
      const one = await simulate(plan)
      const other = await simulate(plan)
      assert.isAbove(one.events.length, 50)
      assert.strictEqual(fingerprintOf(one), fingerprintOf(other))
      assert.deepStrictEqual(traceOf(one.events), traceOf(other.events))
    }
  })

  it("runs a plan that was printed as JSON as the seed that made it", async () => {
    const plan = planOf(4)
    assert.strictEqual(
      fingerprintOf(await simulate(plan)),
      fingerprintOf(await simulate(JSON.parse(JSON.stringify(plan))))
    )
  })
})

describe("the store of the simulator", () => {
  const updateOf = (text: string) =>
    QueuedUpdate.fromStored({ fingerprint: text, partitionKey: "1", receivedAt: 0, text })

  it.each(["memory", "memory with a replica", "sqlite"])("records operations as it applies them: %s", async (kind) => {
    const store = kind === "sqlite" ? "sqlite" : "memory"
    const simulation = makeSimulation({ ...planOf(1), store, latency: 0, order: "random", yieldProbability: 0.2 })
    const { history, world } = simulation
    world.isFaulty = false
    const [process, bot] = [new Process("store"), new Process("bot")]
    const inbox =
      kind === "sqlite"
        ? Effect.map(sqliteStore, ({ store }) => store)
        : kind === "memory"
          ? InboxStore.makeMemory
          : Effect.succeed(makeReplicated(world, process).store)
    const stores = { store: inbox, broadcasts: BroadcastStore.makeMemory, permits: RateLimiterStore.makeMemory }
    const opened = await world.open(process, Context.empty(), Effect.all(stores))
    const { enqueue, stats } = makeDatabase(simulation, { process, ...opened }).storeOf(bot)
    const operations = Array.from({ length: 100 }, (_, index) =>
      index % 2 === 0
        ? enqueue({ updates: [updateOf(String(index))], deadLetters: [], now: 0, duplicatesSince: 0 })
        : stats
    )
    await world.await(bot, Context.empty(), Effect.all(operations, { concurrency: "unbounded" }))
    let queued = 0
    for (const { operation, result } of ofType(history.events, "store")) {
      if (operation === "enqueue") queued++
      else assert.include(result, { queued })
    }
    assert.strictEqual(queued, 50)
  })

  it("gives no id again after failovers that lose each other", async () => {
    const { world } = makeSimulation(planOf(1))
    const { promote, store } = makeReplicated(world, new Process("store"))
    const ids: Array<string> = []
    for (const text of ["one", "two", "three", "four"]) {
      await world.run(1000)
      Effect.runSync(store.enqueue({ updates: [updateOf(text)], deadLetters: [], now: 0, duplicatesSince: 0 }))
      const queued = Effect.runSync(store.updates({ of: "queue", limit: 10 }))
      assert.deepStrictEqual(
        queued.map(({ update }) => update.text),
        [text]
      )
      ids.push(queued[0].id)
      promote(epoch)
    }
    assert.lengthOf(new Set(ids), 4)
  })
})

describe("the auditor", () => {
  const leaseDuration = 10_000
  const storeAt = (at: number, process: string, operation: string, result: unknown): Event => {
    const request = { owner: `${process}.0`, leaseDuration }
    return { type: "store", at, sentAt: at, process, operation, request, result }
  }
  const claimAt = (at: number, process: string) => storeAt(at, process, "claim", [{ key: "1", updates: [] }])
  const renewAt = (at: number, process: string) => storeAt(at, process, "renew", ["1"])
  const failOver: Event = { type: "failedOver", at: 5000, since: 1000 }

  it.each<[name: string, expected: number, events: ReadonlyArray<Event>]>([
    ["nothing was disturbed", 1, [claimAt(0, "bot1"), claimAt(40_000, "bot2")]],
    ["its lease ended after a failover", 0, [claimAt(0, "bot1"), failOver, claimAt(40_000, "bot2")]],
    [
      "its lease ended long after a failover",
      1,
      [claimAt(0, "bot1"), failOver, renewAt(6000, "bot1"), renewAt(30_000, "bot1"), claimAt(41_000, "bot2")]
    ]
  ])("judges that a process loses its chat: %s", (_name, expected, events) => {
    const plan = { ...planOf(1, "handlers"), leaseDuration: leaseDuration / 1000, disturbances: [] }
    const faults = { ...plan.faults, storeAfter: 0, storeBefore: 0, storeSlow: 0 }
    const { violations } = auditHandling({ plan: { ...plan, faults }, events, ending: { stoppedAt: Infinity } })
    assert.lengthOf(
      violations.filter(({ rule }) => rule === "a process that works keeps its chats"),
      expected
    )
  })
})

describe("the planted defects", () => {
  it("are at least 40, with different names", () => {
    assert.isAtLeast(defects.length, 40)
    assert.lengthOf(new Set(defects.map(({ name }) => name)), defects.length)
  })

  it.each(defects)("apply to the sources: $name", (defect) => {
    assert.include(planted(defect), defect.replace)
  })
})
