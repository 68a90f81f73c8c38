import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"
import * as Runner from "../runner/scenario.ts"
import * as Webhook from "../runner/webhook.ts"
import * as Services from "../runner/services.ts"

/** A load balancer: sends connections to the ports by round robin, and skips a port that refuses connections. */
const loadBalancer = (port: number, ports: ReadonlyArray<number>) => {
  let next = 0
  const connectTo = (from: Socket, attempts: number): void => {
    const to = connect({ host: "127.0.0.1", port: ports[next++ % ports.length] })
    to.once("connect", () => void from.pipe(to).pipe(from))
    to.once("error", () => void (attempts > 1 ? connectTo(from, attempts - 1) : from.destroy()))
    from.once("error", () => to.destroy())
  }
  return Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((socket) => connectTo(socket, ports.length))
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  )
}

/** Two processes of an example behind a load balancer, of which the first stops. */
export const twoProcesses = Effect.fnUntraced(function* (name: string) {
  const services = yield* Services.settings
  const shared = yield* Webhook.settings
  const ports = yield* Effect.all([Runner.freePort, Runner.freePort])
  yield* loadBalancer(Number(shared.BOT_WEBHOOK_PORT), ports)
  const settings = ports.map((port) => ({
    ...shared,
    ...services,
    BOT_WEBHOOK_SECRET: "shared-secret",
    BOT_WEBHOOK_PORT: String(port)
  }))
  const [first, second] = yield* Effect.forEach(settings, (each) => Runner.start(name, each))
  yield* Effect.forEach(settings, Webhook.ready)

  const ann = yield* Runner.user("Ann")
  yield* ann.says("good morning")
  yield* ann.sees
  yield* first.stop
  yield* ann.says("are you still there?")
  yield* ann.sees
  yield* second.stop
})

export const scenario: Runner.Scenario = twoProcesses("replicas")
