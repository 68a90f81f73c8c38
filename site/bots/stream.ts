/** The updates as a stream: two pipelines with the same deliveries. */
import { Deliveries, Messages, Update, Updates } from "@colloquy/core"
import { Effect } from "effect"

export const bot = Updates.deliveries({ perChat: 16 }).pipe(
  Deliveries.on("message_created"),
  // The batches are written beside the answers.
  Deliveries.tee((log) =>
    log.pipe(
      Deliveries.groupedWithin(10, "5 seconds"),
      Deliveries.runForEach((batch) => Effect.log(`A batch of ${batch.length}`))
    )
  ),
  Deliveries.runForEach((update) => Messages.reply(update, `${Update.textOf(update)?.length ?? 0} characters`))
)
