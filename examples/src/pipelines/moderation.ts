import { Deliveries, Messages, Update, Updates } from "@colloquy/core"
import { Effect, Stream } from "effect"

const maxMessages = 5
const window = 10_000

/** The times of the recent messages of each user of a chat. A message that is delivered again is not counted twice. */
const makeFloodCheck = () => {
  const times = new Map<unknown, Map<string, number>>()
  return (update: Update.Of<"message_created">): boolean => {
    const user_id = Update.userIdOf(update)
    const recent = times.get(user_id) ?? new Map<string, number>()
    times.set(user_id, recent)
    for (const [mid, time] of recent) if (time <= update.timestamp - window) recent.delete(mid)
    recent.set(update.message?.body?.mid ?? "", update.timestamp)
    return recent.size > maxMessages
  }
}

/** Removes messages of users who send more than 5 within 10 seconds. Each chat has its own state. */
export const moderation = Updates.deliveries().pipe(
  Deliveries.on("message_created"),
  Stream.groupByKey(({ value }) => Update.chatOf(value), { idleTimeToLive: "10 minutes" }),
  Stream.flatMap(
    ([, ofChat]) => {
      const isFlood = makeFloodCheck()
      const moderate = Deliveries.runForEach(ofChat, (update) => {
        const message_id = update.message?.body?.mid
        return isFlood(update) && message_id !== undefined ? Messages.remove({ message_id }) : Effect.void
      })
      return Stream.fromEffectDrain(moderate)
    },
    { concurrency: "unbounded" }
  ),
  Stream.runDrain
)
