/** The emulator as a process of the world, the network between it and the bots, and the deliveries of webhooks. */
import * as BotApi from "@colloquy/core/client/BotApi"
import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import * as Subscriptions from "@colloquy/core/endpoints/Subscriptions"
import * as Updates from "@colloquy/core/inbox/Updates"
import type { Webhook } from "@colloquy/core/inbox/Webhook"
import * as Emulator from "../../../emulator/Emulator.ts"
import * as EmulatorHttp from "../../../emulator/EmulatorHttp.ts"
import type * as WebhookSender from "../../../emulator/WebhookSender.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpClient, HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { RequestExecuted } from "../../SimulationEvent.ts"
import { Process } from "../world/process.ts"
import { CurrentRun, type Machine, type MachinePlan } from "./machine.ts"

export const webhookUrl = "https://bot.example/updates"

export const webhookSecret = "the-secret-of-the-bot"

export const apiOptions = { token: Redacted.make("emulator-token"), baseUrl: Emulator.baseUrl }

/** The request that the platform executes. */
const Received = Context.Reference<{ readonly process: Process; readonly number: number } | undefined>(
  "simulation/Received",
  { defaultValue: () => undefined }
)

/** The memory of a connection: which webhooks listen. */
export interface Listener {
  readonly process: Process
  readonly webhook: Webhook["Service"]
  readonly context: Context.Context<never>
}

export interface PlatformOptions {
  /** Is called after the platform has carried out a request. */
  readonly onExecuted?: (request: RequestExecuted) => void
}

const excerpt = (text: string): string => (text.length > 2000 ? `${text.slice(0, 2000)}…` : text)

/** Answers, delays and resets requests at the platform, and records which of them are carried out. */
const interceptorOf = (
  { history, plan, strikes, world }: Machine,
  { onExecuted }: PlatformOptions
): EmulatorHttp.Interceptor =>
  Effect.fnUntraced(function* (request, next) {
    const received = yield* Received
    if (received === undefined) return yield* next
    const { number, process } = received
    const about = { process: process.name, request: number }
    const detail = `request ${number}`
    if (strikes("tooMany", process, detail))
      return EmulatorHttp.respond(429, { code: "too.many.requests", message: "" })
    if (strikes("errorBefore", process, detail)) return EmulatorHttp.respond(503, "unavailable")
    const body = yield* Effect.orElseSucceed(request.body.text, () => "")
    const response = yield* next
    const path = `${request.path}${request.query}`
    const { method } = request
    const { body: answer, status } = response
    const executed: RequestExecuted = { type: "executed", ...about, method, path, status, body, answer }
    history.add(executed)
    onExecuted?.(executed)
    yield* Effect.sleep(world.dice.int(plan.latency + 1))
    if (strikes("errorAfter", process, detail)) return EmulatorHttp.respond(502, "<html>Bad gateway</html>")
    if (strikes("slow", process, detail)) yield* Effect.sleep(world.dice.int(40_000))
    return response
  })

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? excerpt(new TextDecoder().decode(body.body)) : ""

const failed = (request: HttpClientRequest.HttpClientRequest, cause: Error) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })

const reset = (request: HttpClientRequest.HttpClientRequest) =>
  failed(request, Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }))

/** Delivers updates to the processes whose webhooks listen, as a load balancer does. */
const balancerOf = (
  { strikes, world }: Machine,
  process: Process,
  listeners: ReadonlyArray<Listener>
): WebhookSender.Receiver<string> =>
  Effect.fnUntraced(function* (request) {
    const detail = request.body.slice(0, 80)
    if (strikes("deliveryLate", process, detail)) yield* Effect.sleep(world.dice.int(20_000))
    const alive = listeners.filter((listener) => listener.process.isAlive)
    if (alive.length === 0 || strikes("deliveryLost", process, detail)) return yield* Effect.fail("refused")
    const deliver = () => {
      const { context, process: receiver, webhook } = world.dice.pick(alive)
      const received = webhook.handle({
        method: "POST",
        url: request.url,
        header: (name) => request.headers[name],
        body: Effect.succeed(new TextEncoder().encode(request.body))
      })
      return world.remotely(process, receiver, context, received)
    }
    if (strikes("deliveryDoubled", process, detail)) yield* deliver()
    const { status } = yield* deliver()
    if (strikes("deliveryUnanswered", process, detail)) return yield* Effect.fail("reset")
    return { status }
  })

/**
 * Repeats the first start of the bot: the bot has subscribed its webhook, or has polled once. Updates
 * before that would not reach it.
 */
const prepare = ({ delivery }: MachinePlan) =>
  Effect.gen(function* () {
    if (delivery === "polling") return (yield* Updates.list({ timeout: 0 })).marker ?? undefined
    yield* Subscriptions.subscribe({ url: webhookUrl, secret: webhookSecret })
    return undefined
  }).pipe(Effect.provide(BotApi.layer(apiOptions).pipe(Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited)))))

const hasDelivered = ({ delivery }: MachinePlan) =>
  Effect.gen(function* () {
    if (delivery === "polling") return true
    const accepted = (yield* Emulator.deliveries).filter(({ status }) => status === 200)
    const updates = new Set(accepted.map(({ update }) => update))
    return (yield* Emulator.updates).every((update) => updates.has(update))
  })

/** Creates the platform. Its limits are enforced if the clients of the bots keep them. */
export const makePlatform = async (machine: Machine, options: PlatformOptions = {}) => {
  const { history, plan, strikes, world } = machine
  const process = new Process("platform")
  /** The webhooks that listen. A delivery goes to one of them. */
  const listeners: Array<Listener> = []
  /** The emulator, and the client that reaches it without faults. */
  const context = await world.await(
    process,
    Context.empty(),
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Emulator.layer(), scope)
      const within = Context.add(context, Scope.Scope, scope)
      yield* Effect.provideContext(Emulator.intercept(interceptorOf(machine, options)), within)
      yield* Effect.provideContext(Emulator.receive(webhookUrl, balancerOf(machine, process, listeners)), within)
      return context
    })
  )
  const direct = Context.get(context, HttpClient.HttpClient)
  /** The position in the updates of the platform before anything happens, for a bot that polls. */
  const marker = await world.await(process, context, prepare(plan))
  let requests = 0

  /** Sends a request through the network. */
  const send = (
    from: Process,
    request: HttpClientRequest.HttpClientRequest,
    run: number | undefined,
    mayBeSent: () => boolean
  ) =>
    Effect.callback<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>((resume) => {
      if (!mayBeSent()) return resume(Effect.fail(failed(request, new RateLimiter.PermitExpired())))
      const number = ++requests
      const about = { process: from.name, request: number }
      const path = request.url.slice(Emulator.baseUrl.length)
      history.add({ type: "sent", ...about, run, method: request.method, path, body: bodyOf(request) })
      const detail = `request ${number}`
      const answered = Effect.gen(function* () {
        yield* Effect.sleep(world.dice.int(plan.latency + 1))
        if (strikes("resetBefore", from, detail)) return yield* Effect.fail(reset(request))
        const response = yield* Effect.provideService(direct.execute(request), Received, { process: from, number })
        if (strikes("silent", from, detail)) return yield* Effect.never
        if (strikes("resetAfter", from, detail)) return yield* Effect.fail(reset(request))
        return response
      })
      world.fork(process, context, answered).addObserver((exit) =>
        world.schedule(from, () => {
          const status = exit._tag === "Success" ? exit.value.status : undefined
          history.add({ type: "answered", ...about, status })
          resume(exit)
        })
      )
    })

  /** The client with which a process reaches the platform. */
  const clientOf = (from: Process) =>
    HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
      Effect.flatMap((request) =>
        Effect.withFiber((fiber) =>
          send(from, request, fiber.getRef(CurrentRun), fiber.getRef(RateLimiter.ConfirmPermit))
        )
      ),
      Effect.succeed
    )
  return {
    process,
    context,
    listeners,
    clientOf,
    marker,
    /** Whether a webhook has accepted all updates, so the platform repeats none. */
    hasDelivered: Effect.provideContext(hasDelivered(plan), context)
  }
}

export type Platform = Awaited<ReturnType<typeof makePlatform>>
