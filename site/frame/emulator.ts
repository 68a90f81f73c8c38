import * as BotApi from "@colloquy/core/client/BotApi"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as LongPolling from "@colloquy/core/inbox/LongPolling"
import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import { defaultToken } from "@colloquy/testing/emulator/EmulatorOptions"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Answer, Transport } from "../../packages/testing/ui/transport.ts"

const client = BotApi.layer({ token: Redacted.make(defaultToken), baseUrl: Emulator.baseUrl }).pipe(
  Layer.provide(RateLimiter.layerMemory())
)

const platform = LongPolling.layer().pipe(
  Layer.provideMerge(Layer.merge(client, Inbox.layerMemory())),
  Layer.provideMerge(Emulator.layer()),
  Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromUnknown({ BOT_EMULATOR: "true" })))
)

export type Services = Layer.Success<typeof platform>

/** The emulator, and the services of a bot that is connected to it. `log` receives each line of the log. */
export const makeRuntime = (log: (line: string) => void) => {
  const logger = Logger.map(Logger.formatLogFmt, log)
  return ManagedRuntime.make(Layer.merge(platform, Logger.layer([logger])))
}

export type Runtime = ReturnType<typeof makeRuntime>

const execute = (url: string, { body, headers, method = "GET" }: RequestInit) =>
  HttpClient.HttpClient.use((client) => {
    const request = HttpClientRequest.make(method as "GET")(`${Emulator.baseUrl}${url}`, {
      headers: headers as Record<string, string>
    })
    return client.execute(
      typeof body === "string" ? HttpClientRequest.bodyText(request, body, "application/json") : request
    )
  })

/** Calls the emulator in this page. */
export const makeTransport = (runtime: Runtime): Transport => ({
  request: (url, init) =>
    runtime.runPromise(
      Effect.gen(function* () {
        const response = yield* execute(url, init)
        const text = yield* response.text
        const { status } = response
        const answer: Answer = { ok: status < 400, status, statusText: "", text: () => Promise.resolve(text) }
        return answer
      })
    ),
  follow: (url, { onEvent, onLost, onOpen }) => {
    const events = Effect.gen(function* () {
      const response = yield* execute(url, {})
      onOpen()
      yield* response.stream.pipe(
        Stream.decodeText(),
        Stream.splitLines,
        Stream.filter((line) => line.startsWith("data:")),
        Stream.runForEach((line) => Effect.sync(() => onEvent(line.slice("data:".length).trim())))
      )
    })
    runtime.runFork(Effect.ensuring(events, Effect.sync(onLost)))
  }
})
