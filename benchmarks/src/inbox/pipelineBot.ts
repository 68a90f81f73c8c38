/**
 * Handles updates by a random pipeline of deliveries, which its parent kills: `pipelineBot.ts STORE NAME LOG RUN random|plain`. The file LOG
 * gets the number of branches of the pipeline, and a line for each update that a branch has handled.
 */
import { Deliveries, type Delivery, Inbox, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { openSync, writeSync } from "node:fs"
import { lease } from "./pipelines.ts"
import * as places from "./places.ts"
import { indexOf, layerSource, untilEmpty } from "./traffic.ts"

const [store, name, file, run, kind] = process.argv.slice(2)
const place = places.fromArguments([store!, name!])

const log = openSync(file!, "a")

type Handled = ReadonlyArray<number>
type Pipeline = Stream.Stream<Delivery.Delivery<Handled>, Updates.SourceError, Updates.Updates>
type Step = readonly [name: string, apply: (self: Pipeline) => Pipeline]

const upTo = (max: number): number => 1 + Math.floor(Math.random() * max)
const oneOf = <A>(all: ReadonlyArray<A>): A => all[Math.floor(Math.random() * all.length)]!
const pause = Effect.suspend(() => (Math.random() < 0.3 ? Effect.void : Effect.sleep(Math.random() * 8)))

let branches = 0

/** A function that records what a branch has handled. */
const branch = () => {
  const id = branches++
  return (handled: Handled) =>
    Effect.sync(() => writeSync(log, handled.map((index) => `${run} ${id} ${index}\n`).join("")))
}

/** Handles the values of a delivery, and fails now and then. */
const handling = () => {
  const record = branch()
  return (handled: Handled) =>
    Effect.andThen(
      pause,
      Effect.suspend(() => (Math.random() < 0.01 ? Effect.fail("A failure of the benchmark") : record(handled)))
    )
}

const retry = Schedule.spaced("5 millis")

const steps: ReadonlyArray<() => Step> = [
  () => ["buffer", Stream.buffer({ capacity: upTo(64) })],
  () => ["map", Deliveries.map((handled) => [...handled])],
  () => [
    "mapEffect of Deliveries",
    Deliveries.mapEffect((handled) => Effect.as(pause, handled), { concurrency: upTo(64) })
  ],
  () => [
    "mapEffect",
    Stream.mapEffect((delivery) => Effect.as(pause, delivery), {
      concurrency: upTo(16),
      unordered: oneOf([true, false])
    })
  ],
  () => [
    "groupedWithin",
    (self) => Deliveries.map(Deliveries.groupedWithin(self, upTo(20), upTo(20)), (groups) => groups.flat())
  ],
  () => [
    "groupByKey",
    (self) =>
      Stream.flatMap(
        Stream.groupByKey(self, ({ value }) => value[0]! % 3),
        ([, group]) => group,
        { concurrency: "unbounded" }
      )
  ],
  () => [
    "throttle",
    Stream.throttle({ cost: (chunk) => chunk.length, units: 50, duration: "10 millis", strategy: "shape" })
  ],
  () => ["merge", (self) => Stream.merge(self, Stream.fromEffectDrain(Effect.sleep("100 millis")))],
  () => {
    const handle = handling()
    return ["tee", Deliveries.tee((side) => Deliveries.runForEach(side, handle, { concurrency: upTo(16), retry }))]
  },
  () => {
    const [first, second] = [handling(), handling()]
    return [
      "broadcast",
      (self) =>
        Stream.unwrap(
          Effect.map(Deliveries.broadcast(self, { n: 2 }), ([a, b]) =>
            Stream.merge(
              Deliveries.mapEffect(a, (handled) => Effect.as(first(handled), handled), { retry }),
              Deliveries.mapEffect(b, (handled) => Effect.as(second(handled), handled), { retry })
            )
          )
        )
    ]
  },
  () => {
    // Only the branches before the filter handle what it drops.
    const before = branches
    const drop = (handled: Handled) => {
      writeSync(log, handled.map((index) => `${run} dropped-after-${before} ${index}\n`).join(""))
      return false
    }
    return ["filter", Deliveries.filter((handled: Handled) => handled[0]! % 7 !== 0 || drop(handled))]
  },
  () => ["take", Stream.take(200 + upTo(400))]
]

type End = readonly [name: string, run: (self: Pipeline) => Effect.Effect<void, unknown, Updates.Updates>]

const ends: ReadonlyArray<() => End> = [
  () => {
    const handle = handling()
    return ["runForEach of Deliveries", Deliveries.runForEach(handle, { concurrency: upTo(64), retry })]
  },
  () => {
    const handle = handling()
    const settle = (delivery: Delivery.Delivery<Handled>) =>
      Effect.matchEffect(handle(delivery.value), {
        onFailure: () => delivery.retry({ after: "5 millis" }),
        onSuccess: () => delivery.ack
      })
    return [
      "mapEffect by hand",
      (self) =>
        Stream.runDrain(Stream.mapEffect(self, settle, { concurrency: upTo(64), unordered: oneOf([true, false]) }))
    ]
  },
  () => {
    const record = branch()
    return ["runForEach by hand", Stream.runForEach(({ ack, value }) => Effect.andThen(record(value), ack))]
  }
]

const perChat = oneOf([1, 1, 3, "unbounded"] as const)
const chosen = kind === "plain" ? [] : Array.from({ length: upTo(5) - 1 }, () => oneOf(steps)())
const [endName, end] = kind === "plain" ? ends[0]!() : oneOf(ends)()

const start: Pipeline = Updates.deliveries({ perChat, maxCrashes: 1000 }).pipe(
  Deliveries.map((update) => [indexOf(update)])
)

writeSync(
  log,
  `${run} pipeline ${branches} perChat ${perChat}, ${[...chosen.map(([name]) => name), endName].join(", ")}\n`
)

await Effect.runPromise(
  end(chosen.reduce((pipeline, [, apply]) => apply(pipeline), start)).pipe(
    Effect.provide(
      layerSource(kind === "plain" ? untilEmpty : () => Effect.never).pipe(
        Layer.provide(Inbox.layer({ leaseDuration: lease })),
        Layer.provide(places.layer(place)),
        Layer.provideMerge(Logger.layer([]))
      )
    )
  )
)
process.exit(0)
