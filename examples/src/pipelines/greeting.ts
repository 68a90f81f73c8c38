import { Deliveries, Messages, Updates } from "@colloquy/core"
import { Stream } from "effect"

/** Greets at most 10 users per second, so that other calls are not delayed when many people open the bot at once. */
export const greeting = Updates.deliveries().pipe(
  Deliveries.on("bot_started"),
  Stream.rechunk(1),
  Stream.throttle({ cost: (deliveries) => deliveries.length, units: 10, duration: "1 second" }),
  Deliveries.runForEach((update) => Messages.reply(update, `Hello, ${update.user.first_name}`))
)
