import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"
import * as Stage from "../stage/stage.ts"
import * as Webhook from "../stage/webhook.ts"
import * as Services from "../stage/services.ts"

/** A load balancer: connections go to the ports in turn, and past a port where nobody listens. */
const balance = (port: number, ports: ReadonlyArray<number>) => {
  let turn = 0
  const pass = (from: Socket, left: number): void => {
    const to = connect({ host: "127.0.0.1", port: ports[turn++ % ports.length] })
    to.once("connect", () => void from.pipe(to).pipe(from))
    to.once("error", () => void (left > 1 ? pass(from, left - 1) : from.destroy()))
    from.once("error", () => to.destroy())
  }
  return Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((socket) => pass(socket, ports.length))
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  )
}

export const scene: Stage.Scene = Effect.gen(function* () {
  const services = yield* Services.find
  const front = yield* Webhook.settings
  const ports = yield* Effect.all([Stage.freePort, Stage.freePort])
  yield* balance(Number(front.BOT_WEBHOOK_PORT), ports)
  const settings = ports.map((port) => ({
    ...front,
    ...services,
    BOT_WEBHOOK_SECRET: "the-same-for-all",
    BOT_WEBHOOK_PORT: String(port)
  }))
  const [first, second] = yield* Effect.forEach(settings, (each) => Stage.start("several", each))
  yield* Effect.forEach(settings, Webhook.ready)

  const ann = yield* Stage.person("Ann")
  yield* ann.says("good morning")
  yield* ann.sees
  yield* first.stop
  yield* ann.says("are you still there?")
  yield* ann.sees
  yield* second.stop
})
