import { createServer } from "node:http"
import { Platform } from "@colloquy/core"
import { maxBodySize } from "@colloquy/core/inbox/Webhook"
import { costsOf } from "./child.ts"
import type { Measured } from "./figure.ts"
import { responses, updates } from "./hostileBodies.ts"
import { listen } from "./processes.ts"

/** The longest stall of the event loop of a client that receives hostile responses and updates. */
export const hostileStall = async (): Promise<Measured> => {
  const bodies = responses(Platform.maxResponseSize)
  let sent = 0
  const server = createServer((_, response) => {
    const [, body] = bodies[(sent++ + bodies.length - 1) % bodies.length]
    response.setHeader("content-type", "application/json").end(body())
  })
  const stalls = await costsOf(["hostile.ts", await listen(server), String(bodies.length), String(maxBodySize)])
  server.close()
  const named = Object.entries(stalls).map(([name, [millis]]) => {
    const index = /^response (\d+)$/.exec(name)?.[1]
    return { name: index === undefined ? name : bodies[Number(index) - 1][0], millis }
  })
  const slowest = named.toSorted((a, b) => b.millis - a.millis).slice(0, 3)
  return {
    value: slowest[0].millis,
    detail:
      `${bodies.length} responses of up to 8 MiB and ${updates(maxBodySize).length} updates of up to 1 MiB: ` +
      slowest.map(({ millis, name }) => `${name} ${millis.toFixed(0)} ms`).join(", ")
  }
}
