/**
 * Receives and handles updates on request, and reports the CPU time that it used: `backlogBot.ts STORE NAME`. Handling stops
 * after the requested number of updates, so that the others stay in the inbox.
 */
import { Inbox, Updates } from "@colloquy/core"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as places from "./places.ts"
import { endWithParent, onParentMessage, tellParent } from "./processes.ts"
import { layerSource, received } from "./traffic.ts"

export interface Command {
  readonly run: "receive" | "handle"
  readonly count: number
}

export interface Done {
  readonly run: Command["run"] | "start"
  /** CPU time of this process, in microseconds. */
  readonly cpu: number
}

const place = places.fromArguments(process.argv.slice(2))

const page = 100

/** Chats of ten updates each, also where no other updates wait, so that both sides claim as many updates of a chat. */
const chatOf = (index: number): number => Math.floor(index / 1000) * 100 + (index % 100)

let next = 0

const receive = (count: number) =>
  Inbox.Inbox.use((inbox) =>
    Effect.gen(function* () {
      yield* inbox.open
      for (let done = 0; done < count; done += page) {
        yield* inbox.receive(Array.from({ length: page }, (_, at) => received(next + at, chatOf(next + at))))
        next += page
      }
    })
  )

const handle = (count: number) =>
  Effect.gen(function* () {
    const finished = yield* Deferred.make<void>()
    let handled = 0
    const work = Effect.suspend(() => {
      handled++
      return handled === count ? Deferred.succeed(finished, undefined) : Effect.void
    })
    yield* Effect.raceFirst(
      Updates.run(() => work),
      Deferred.await(finished)
    )
  })

const commands: Readonly<
  Record<Command["run"], (count: number) => Effect.Effect<void, never, Inbox.Inbox | Updates.Updates>>
> = {
  receive: (count) => Effect.orDie(receive(count)),
  handle: (count) => Effect.orDie(handle(count))
}

const runtime = ManagedRuntime.make(
  layerSource(() => Effect.never).pipe(
    Layer.provideMerge(Inbox.layer({ capacity: 100_000_000 })),
    Layer.provide(places.layer(place)),
    Layer.provideMerge(Logger.layer([]))
  )
)
await runtime.context()

endWithParent()
onParentMessage(({ count, run }: Command) => {
  const before = process.cpuUsage()
  const report = Effect.sync(() => {
    const { system, user } = process.cpuUsage(before)
    tellParent({ run, cpu: system + user } satisfies Done)
  })
  runtime.runFork(Effect.andThen(commands[run](count), report))
})
tellParent({ run: "start", cpu: 0 } satisfies Done)
