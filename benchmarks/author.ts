/** `npm run bench:author`: prints the table for authors in docs/performance.md, and writes its picture. */
import { writeFileSync } from "node:fs"
import { conversationMemory, type Latency, latencyOf, rateOf, type Store, stores } from "./src/author/expectations.ts"
import { draw, rowsOf } from "./src/author/picture.ts"

const rates = new Map<Store, number>()
const latencies: Array<Latency> = []
for (const store of stores) {
  rates.set(store, await rateOf(store))
  for (const processes of store === "memory" ? [1] : [1, 2, 4]) latencies.push(await latencyOf(store, processes))
}
for (const row of rowsOf(rates, latencies)) console.log(row)
console.log(`1,000 conversations: ${(await conversationMemory()).toFixed(2)} MB`)
writeFileSync(new URL("../docs/pictures/answers.svg", import.meta.url), draw(latencies))
