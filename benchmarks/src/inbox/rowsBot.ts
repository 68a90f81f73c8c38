/**
 * A bot that its parent kills and freezes: `rowsBot.ts STORE NAME HOW`. The bot adds two statements for each update: HOW is
 * `handler` for a commit of each update, or `batches`.
 */
import { Bot, Commit, Deliveries, type Update, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { SqlClient } from "effect/sql/SqlClient"
import { endWithParent, tellParent } from "../processes.ts"
import { chats, isPoison, lease } from "./rowsExact.ts"
import * as places from "./places.ts"
import { indexOf, layerSource } from "./traffic.ts"

const [store, name, how] = process.argv.slice(2)

endWithParent()

const ready = Effect.sync(() => tellParent({ isReady: true }))

const toRow = (update: Update.Update) => ({ chat_id: indexOf(update) % chats, number: indexOf(update) })

const program = Effect.gen(function* () {
  const sql = yield* SqlClient
  const count = (chat_id: number) =>
    Commit.add(
      sql`INSERT INTO counters (chat_id, updates) VALUES (${chat_id}, 1)
        ON CONFLICT (chat_id) DO UPDATE SET updates = counters.updates + 1`
    )

  const handler = Bot.run(
    (update) => {
      const row = toRow(update)
      return Effect.gen(function* () {
        yield* count(row.chat_id)
        yield* Effect.sleep(row.number % 5)
        // The number of a poisoned update is refused by the table.
        const inserted = { ...row, number: isPoison(row.number) ? -1 : row.number }
        yield* Commit.add(sql`INSERT INTO handled ${sql.insert(inserted)}`)
      })
    },
    { concurrency: 16, retry: Schedule.recurs(1) }
  )

  const batches = Updates.deliveries().pipe(
    Deliveries.map(toRow),
    Deliveries.groupedWithin(50, "20 millis"),
    Deliveries.runForEach(
      (rows) =>
        Effect.andThen(
          Effect.forEach(rows, ({ chat_id }) => count(chat_id), { discard: true }),
          Commit.add(sql`INSERT INTO handled ${sql.insert(rows)}`)
        ),
      { concurrency: 4 }
    )
  )

  yield* how === "batches" ? batches : handler
})

await Effect.runPromise(
  Effect.provide(
    program,
    Layer.provideMerge(
      layerSource(() => Effect.andThen(ready, Effect.never)),
      places.layerRows(places.fromArguments([store!, name!]), { leaseDuration: lease })
    )
  )
)
