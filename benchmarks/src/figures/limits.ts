import { costsOf, ratio } from "../child.ts"
import type { Figure } from "../figure.ts"
import { sharedLimit } from "../limits/run.ts"
import { refusals, replyLatency, unknownLimit } from "../sending.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "limiter-cost-us",
    measures: "time to acquire a permit, over a permit of a semaphore",
    unit: "ratio",
    goal: 6,
    measure: ratio(() => costsOf("limiterCost.ts"), "acquire", "withPermit", "us")
  },
  {
    figure: "429-per-success",
    measures: "429 responses of 300 concurrent sends",
    unit: "ratio",
    goal: 0,
    measure: refusals
  },
  {
    figure: "429-unknown-limit",
    measures: "429 responses per send where the platform allows a third of the documented rate",
    unit: "ratio",
    goal: 0.02,
    also: { name: "time over sends / 10", goal: 1.15 },
    measure: unknownLimit
  },
  {
    figure: "reply-p99-ms",
    measures: "99th percentile latency of a reply while 10,000 broadcast messages are queued",
    unit: "ms",
    goal: 200,
    measure: replyLatency
  },
  {
    figure: "shared-limit-windows-over",
    measures:
      "windows over the limit, counted at the sockets, of four processes whose Redis is slow, down, flapping or silent, or which stand still",
    unit: "requests",
    goal: 0,
    also: { name: "time over best possible", goal: 1.1 },
    measure: sharedLimit
  },
  {
    figure: "broadcast-over-limit",
    measures: "time of a broadcast to 3,000 chats, over the shortest time that the limits allow",
    unit: "ratio",
    goal: 1.03,
    measure: async () => {
      const { millis, refused } = await costsOf("broadcast.ts")
      return {
        value: millis[0] / ((3000 / 30) * 1000),
        detail: `3,000 recipients in ${(millis[0] / 1000).toFixed(1)} s, ${refused[0]} refused`
      }
    }
  }
]
