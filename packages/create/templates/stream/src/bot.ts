import { Deliveries, Update, Updates } from "@colloquy/core"
import { Effect } from "effect"
import { appendFile } from "node:fs/promises"

export const toRow = (update: Update.Of<"message_created">) => ({
  at: update.timestamp,
  chat_id: Update.chatOf(update) ?? null,
  text: Update.textOf(update) ?? null
})

export type Row = ReturnType<typeof toRow>

// An update is acknowledged when its batch is stored. After a crash, updates without an acknowledgement are delivered
// again.
export const archive = <E>(store: (rows: ReadonlyArray<Row>) => Effect.Effect<void, E>) =>
  Updates.deliveries({ perChat: "unbounded" }).pipe(
    Deliveries.on("message_created"),
    Deliveries.map(toRow),
    Deliveries.groupedWithin(500, "1 second"),
    Deliveries.runForEach(store)
  )

const appendTo = (file: string) => (rows: ReadonlyArray<Row>) =>
  Effect.tryPromise(() => appendFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join("")))

export const bot = archive(appendTo("messages.jsonl"))
