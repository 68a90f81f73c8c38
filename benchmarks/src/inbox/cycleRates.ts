/**
 * Prints the time per update in microseconds that an inbox takes to receive, claim, handle and acknowledge updates of few and of
 * many chats, and that the peer of its store takes: `cycleRates.ts STORE NAME`.
 */
import { Bot, Inbox, type Update } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import { isSuccess } from "effect/Result"
import { printCosts } from "../child.ts"
import { millisOf, takeTurns } from "../rounds.ts"
import * as bareSqlite from "./bareSqlite.ts"
import * as places from "./places.ts"
import * as redisStreams from "./redisStreams.ts"
import { fill, layerSource, pageOf } from "./traffic.ts"

const place = places.fromArguments(process.argv.slice(2))

const updates = { memory: 100_000, sqlite: 10_000, postgres: 10_000, redis: 40_000 }[place.store]

const rounds = 5

/** Updates that are received together: a page of the long polling. */
const page = 100

/** Updates that are handled, and so acknowledged, together. */
const concurrency = 64

const many = 1000

let filled = 0

/** Updates are received while others are handled. The end of the source ends the run when all are acknowledged. */
const handleAll = (chats: number) =>
  Effect.suspend(() => {
    const first = filled
    filled += updates
    let handled = 0
    const handle = (_: Update.Update) =>
      Effect.sync(() => {
        handled++
      })
    return Bot.run(handle, { concurrency }).pipe(
      Effect.provide(
        layerSource((inbox) => Effect.provideService(fill(first, updates, chats, page), Inbox.Inbox, inbox))
      ),
      Effect.andThen(
        Effect.suspend(() => (handled === updates ? Effect.void : Effect.die(`${handled} of ${updates} were handled`)))
      )
    )
  })

const pages = (): ReadonlyArray<ReadonlyArray<Update.Update>> => {
  const first = filled
  filled += updates
  return Array.from({ length: updates / page }, (_, at) =>
    pageOf(first + at * page, page, many).flatMap(({ decoded }) => (isSuccess(decoded) ? [decoded.success] : []))
  )
}

/** The database grows from round to round, as that of the inbox does. */
const overSqlite = (database: ReturnType<typeof bareSqlite.open>) => {
  let next = 1
  return Effect.sync(() => {
    let last = 0
    for (const page of pages()) {
      last = database.insert(page.map(bareSqlite.toRow))
      for (; last - next + 1 >= concurrency; next += concurrency) database.delete(next, concurrency)
    }
    database.delete(next, last + 1 - next)
    next = last + 1
  })
}

const overStreams = (stream: Effect.Success<ReturnType<typeof openStream>>) =>
  Effect.promise(async () => {
    const add = async () => {
      for (const page of pages()) await stream.add(page.map((update) => JSON.stringify(update)))
    }
    await Promise.all([add(), stream.handle(updates, concurrency, JSON.parse)])
  })

const openStream = () =>
  Effect.acquireRelease(
    Effect.promise(() => redisStreams.open(place.name)),
    (stream) => Effect.promise(stream.close)
  )

const openSqlite = Effect.acquireRelease(Effect.sync(bareSqlite.open), (database) => Effect.sync(database.close))

const peer = Effect.gen(function* () {
  if (place.store === "sqlite") return { peer: overSqlite(yield* openSqlite) }
  return place.store === "redis" ? { peer: overStreams(yield* openStream()) } : {}
})

const program = Effect.gen(function* () {
  const contenders: Readonly<{ [name: string]: Effect.Effect<void, unknown, Inbox.Inbox> }> = {
    many: handleAll(many),
    few: handleAll(10),
    ...(yield* peer)
  }
  const services = yield* Effect.context<Inbox.Inbox>()
  const measures = Record.map(contenders, (contender) => async () => {
    const millis = await millisOf(() => Effect.runPromiseWith(services)(contender))
    return (millis * 1000) / updates
  })
  printCosts(yield* Effect.promise(() => takeTurns(measures, { rounds })))
})

await Effect.runPromise(Effect.provide(Effect.scoped(program), places.layerInbox(place, { capacity: 10_000_000 })))
