import { costsOf, ratio } from "../child.ts"
import { medianOf, requestRate, startOverNode, uploadGrowth } from "../emulator.ts"
import type { Figure } from "../figure.ts"
import { firstPaint, messageToScreen, pageSize } from "../page.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "emulator-over-bare",
    measures: "messages per second, over a plain `node:http` server that echoes JSON",
    unit: "ratio",
    goal: 0.5,
    isMinimum: true,
    measure: requestRate
  },
  {
    figure: "page-size-kb",
    measures: "size of all files of the page of the emulator, gzipped",
    unit: "kB",
    goal: 60,
    measure: pageSize
  },
  {
    figure: "page-first-paint-ms",
    measures: "time to the first content of the page on the loopback",
    unit: "ms",
    goal: 300,
    measure: firstPaint
  },
  {
    figure: "page-message-ms",
    measures: "time from a request of a bot to its message on the screen, 99th percentile at 20 messages a second",
    unit: "ms",
    goal: 50,
    measure: messageToScreen
  },
  {
    figure: "virtual-8h-ms",
    measures: "eight hours of webhook retries of 1,000 updates in virtual time",
    unit: "ms",
    goal: 1000,
    measure: async () => medianOf((await costsOf("retries.ts"))["retries"], "1,000 updates that nobody takes")
  },
  {
    figure: "virtual-flood-cpu-us",
    measures:
      "CPU time of a send through the client, the rate limits and the emulator in virtual time, over a call of the handler of the emulator with `JSON` both ways",
    unit: "ratio",
    goal: 3,
    measure: ratio(() => costsOf("flood.ts"), "send", "bare", "us CPU")
  },
  {
    figure: "emulator-4gb-rss-mb",
    measures: "memory growth of the emulator while it receives 4 GB",
    unit: "MB",
    goal: 100,
    measure: uploadGrowth
  },
  {
    figure: "emulator-start-over-node",
    measures: "time until the emulator command is ready, over `node -e 0`",
    unit: "ratio",
    goal: 8,
    measure: startOverNode
  }
]
