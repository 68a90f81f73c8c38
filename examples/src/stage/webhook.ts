/** Where a bot with a webhook listens, and when it does. */
import { Console, Effect, Schedule } from "effect"
import { HttpClient } from "effect/http"
import { line } from "../start/dialogue.ts"
import * as Stage from "./stage.ts"

/** The settings of a webhook on this machine. */
export const settings = Effect.gen(function* () {
  const port = yield* Stage.freePort
  return {
    ...(yield* Stage.bot),
    BOT_WEBHOOK_URL: `http://127.0.0.1:${port}/updates`,
    BOT_WEBHOOK_INSECURE: "true",
    BOT_WEBHOOK_HOST: "127.0.0.1",
    BOT_WEBHOOK_PORT: String(port)
  }
})

/** Waits until the bot says of itself that it takes updates. */
export const ready = Effect.fnUntraced(function* ({ BOT_WEBHOOK_PORT }: { readonly BOT_WEBHOOK_PORT: string }) {
  yield* HttpClient.get(`http://127.0.0.1:${BOT_WEBHOOK_PORT}/health/ready`).pipe(
    Effect.match({ onFailure: () => false, onSuccess: ({ status }) => status === 200 }),
    Effect.repeat({ until: (isReady) => isReady, schedule: Schedule.spaced("50 millis") }),
    Stage.inTime("/health/ready of the program")
  )
  yield* Console.log(line("program", "(is ready)"))
})
