import { fork } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
const arrivals: number[] = []
const server = createServer((q, r) => { arrivals.push(performance.now()); q.resume().on("end", () => r.writeHead(200, {"content-type": "application/json"}).end('{"message":{"recipient":{"chat_id":1,"chat_type":"dialog"},"timestamp":1774000000123,"body":{"mid":"mid.1","seq":116260864008126464,"text":"Hello"}}}')) })
server.listen(0, async () => {
  const url = `http://127.0.0.1:${(server.address() as any).port}`
  const s = fork("benchmarks/src/sender.ts", [JSON.stringify({ url, users: Array.from({length: 300}, (_, i) => i + 1), sends: 300 })], { execArgv: ["--conditions=source"] })
  await once(s, "message"); s.send("go"); await once(s, "message")
  const gaps = arrivals.slice(30).map((t, i) => 1020 - (t - arrivals[i]))
  const sorted = [...gaps].sort((a, b) => b - a)
  console.log("squeezed by ms: worst", sorted.slice(0, 5).map((x) => x.toFixed(1)), "at", gaps.indexOf(sorted[0]), "after first 30:", Math.max(...gaps.slice(30)).toFixed(1))
  server.close(); process.exit()
})
