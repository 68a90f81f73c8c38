/**
 * The platform as a stub: it accepts every request and records when it arrived at the socket. It answers the messages of its
 * parent: its URL, then `arrivals` on request.
 */
import { createServer } from "node:http"
import { setPriority } from "node:os"
import { endWithParent, listen, onParentMessage, tellParent } from "../processes.ts"
import { sent } from "../sample.ts"

// The real platform does not compete with the bot for processors.
try {
  setPriority(-20)
} catch {
  // Without the right to do so, arrivals are recorded late if all processors are busy.
}

const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }

/** When a request was recorded, and the earliest time at which it may have arrived, in milliseconds. */
export interface Arrival {
  readonly at: number
  readonly earliest: number
}

let arrivals: Array<Arrival> = []

const now = () => performance.timeOrigin + performance.now()

/** How often the stub looks at the clock, and how late that is if the stub got no processor, in milliseconds. */
const tick = 2
const stall = 10

let [previousTick, lastTick] = [now(), now()]

setInterval(() => {
  previousTick = lastTick
  lastTick = now()
}, tick).unref()

/** What is read right after a stall may have arrived at any time of the stall. */
const earliestOf = (at: number): number =>
  lastTick - previousTick > stall && at - lastTick < 2 * tick ? previousTick : at - lastTick > stall ? lastTick : at

const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, headers).end(sent))
})

// A request is one small segment, so its first bytes are the request.
server.on("connection", (socket) => {
  socket.prependListener("data", (chunk: Buffer) => {
    if (!chunk.includes("POST /messages")) return
    const at = now()
    arrivals.push({ at, earliest: earliestOf(at) })
  })
})

endWithParent()
onParentMessage(() => {
  tellParent(arrivals)
  arrivals = []
})
tellParent({ url: await listen(server) })
