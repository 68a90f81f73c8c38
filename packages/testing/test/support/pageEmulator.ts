import { Json } from "@colloquy/core"
import { Emulator, type EmulatorOptions, EmulatorServer, NodeWebhookSender } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { setTimeout } from "node:timers/promises"
import type { Json as Parsed } from "./control.ts"

const send = async (method: string, url: string, body: unknown, headers: Record<string, string>): Promise<Parsed> => {
  const init = body === undefined ? {} : { body: Json.stringify(body) }
  const response = await fetch(url, { method, headers: { "content-type": "application/json", ...headers }, ...init })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return text === "" ? undefined : Json.parse(text)
}

/** An emulator on real ports with a clock that can be stopped, and functions that call it as a bot and as a test. */
export const startEmulator = async (options: EmulatorOptions.Options = {}) => {
  const runtime = ManagedRuntime.make(
    EmulatorServer.layer().pipe(
      Layer.provideMerge(Emulator.layer(options)),
      Layer.provide(Layer.merge(EmulatorServer.layerClock, NodeWebhookSender.layer()))
    )
  )
  const { url } = await runtime.runPromise(EmulatorServer.EmulatorServer.use((server) => Effect.succeed(server)))
  return {
    url,
    asBot: (method: string, path: string, body?: unknown) =>
      send(method, url + path, body, { authorization: options.token ?? "emulator-token" }),
    post: (path: string, body: unknown = {}) => send("POST", `${url}/_emulator${path}`, body, {}),
    put: (path: string, body: unknown) => send("PUT", `${url}/_emulator${path}`, body, {}),
    get: (path: string) => send("GET", `${url}/_emulator${path}`, undefined, {}),
    stop: () => runtime.dispose()
  }
}

/** Waits until a condition of the emulator is true. */
export const until = async <A>(read: () => Promise<A | undefined>): Promise<A> => {
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    await setTimeout(25)
  }
}

export type PageEmulator = Awaited<ReturnType<typeof startEmulator>>
