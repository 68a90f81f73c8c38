/**
 * Runs a bot against the emulator for a long time: `npm run soak -- --minutes 60 --store pg`.
 *
 * People send 100 messages a second. 5 % of the requests of the bot meet a fault, and the bot is killed after each 6,000
 * messages, which is once a minute. Prints a line a minute, and a report at the end. Exits with 1 if a message was lost or
 * handled out of order, or if memory or handles grew.
 *
 * - `--minutes`: how long messages are sent. Default: 60. `--store`: `sqlite`, `pg` or `redis`. Default: `sqlite`.
 * - `--rate`: messages in a second. Default: 100. `--faults`: share of the requests with a fault. Default: 0.05.
 */
import { parseArgs } from "node:util"
import { soak } from "../test/soak/run.ts"
import { isStore } from "../test/soak/stores.ts"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    store: { type: "string", default: "sqlite" },
    rate: { type: "string", default: "100" },
    faults: { type: "string", default: "0.05" }
  }
})

const { store } = values
if (!isStore(store)) throw new Error(`There is no store "${store}". Use sqlite, pg or redis.`)

const rate = Number(values.rate)
const perMinute = rate * 60
const total = Math.round(Number(values.minutes) * perMinute)

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

let samples = 0

const { halves, kills, problems, report } = await soak({
  chats: 200,
  rate,
  total,
  faults: Number(values.faults),
  store,
  killEvery: perMinute,
  sampleEvery: Math.ceil(perMinute / 6),
  onSample: ({ files, handled, heap, queued, resources, rss }, platform, kills) => {
    if (samples++ % 6 !== 3) return
    console.log(
      `${new Date().toISOString()} sent ${platform.sent}, handled ${handled}, queued ${queued}, kills ${kills}; heap ` +
        `${megabytes(heap)}, rss ${megabytes(rss)}, files ${files}, resources ${resources}; emulator ${megabytes(platform.rss)}`
    )
  }
})

console.log(
  `${report.handled} of ${total} handled with ${kills} kills: ${report.lost.length} lost, ${report.outOfOrder.length} out of ` +
    `order, ${report.repeated} repeated, ${report.deadLetters} dead letters; replies: ${report.repliesLost.length} lost, ` +
    `${report.repliesOutOfOrder.length} out of order`
)
for (const { earlier, isFlat, later, quantity } of halves) {
  const text = (value: number) => (quantity === "heap" || quantity === "rss" ? megabytes(value) : value.toFixed(1))
  console.log(
    `${quantity}: ${text(earlier)} in the earlier half, ${text(later)} in the later half${isFlat ? "" : ": NOT FLAT"}`
  )
}
for (const problem of problems) console.error(`FOUND ${problem}`)
process.exitCode = problems.length === 0 ? 0 : 1
