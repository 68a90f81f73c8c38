import { Deliveries, Messages, Updates } from "@colloquy/core"
import { Stream } from "effect"

/** Greets at most 10 users per second, so that a campaign that many people open leaves room for other calls. */
export const greeting = Updates.deliveries().pipe(
  Deliveries.on("bot_started"),
  Stream.rechunk(1),
  Stream.throttle({ cost: (deliveries) => deliveries.length, units: 10, duration: "1 second" }),
  Deliveries.runForEach((update) => Messages.reply(update, `Hello, ${update.user.first_name}`))
)
