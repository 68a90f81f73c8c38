/** The settings and the readiness of an example that receives its updates by webhook. */
import { Console, Effect, Schedule } from "effect"
import { HttpClient } from "effect/http"
import { line } from "../start/transcript.ts"
import * as Runner from "./scenario.ts"

/** The environment variables of a bot with a webhook on this machine. */
export const settings = Effect.gen(function* () {
  const port = yield* Runner.freePort
  return {
    ...(yield* Runner.botSettings),
    BOT_WEBHOOK_URL: `http://127.0.0.1:${port}/updates`,
    BOT_WEBHOOK_INSECURE: "true",
    BOT_WEBHOOK_HOST: "127.0.0.1",
    BOT_WEBHOOK_PORT: String(port)
  }
})

/** Waits until `/health/ready` of the example responds with 200. */
export const ready = Effect.fnUntraced(function* ({ BOT_WEBHOOK_PORT }: { readonly BOT_WEBHOOK_PORT: string }) {
  yield* HttpClient.get(`http://127.0.0.1:${BOT_WEBHOOK_PORT}/health/ready`).pipe(
    Effect.match({ onFailure: () => false, onSuccess: ({ status }) => status === 200 }),
    Effect.repeat({ until: (isReady) => isReady, schedule: Schedule.spaced("50 millis") }),
    Runner.withTimeout("status 200 of /health/ready")
  )
  yield* Console.log(line("program", "(is ready)"))
})
