import autocannon from "autocannon"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { costsOf } from "./child.ts"
import { delivery, secret } from "./deliveries.ts"
import { compare, type Measured, median } from "./figure.ts"

const path = fileURLToPath(new URL("webhook.ts", import.meta.url))

interface Started {
  readonly child: ChildProcess
  readonly url: string
}

const start = async (program: string): Promise<Started> => {
  const child = fork(path, [program], { execArgv: ["--conditions=source"] })
  const [{ url }] = (await once(child, "message")) as [{ readonly url: string }]
  return { child, url }
}

const stop = async ({ child }: Started): Promise<void> => {
  const exit = once(child, "exit")
  child.disconnect()
  await exit
}

const headers = { "content-type": "application/json", "x-svc-bot-api-secret": secret }

let sent = 0

/**
 * Delivers updates, each of them new, and gives how many milliseconds it took. They are made beforehand, so that the
 * server is what is waited for.
 */
const deliver = async (url: string, connections: number, amount: number, overallRate?: number): Promise<number> => {
  let began = 0
  let ended = 0
  const setupClient = (client: autocannon.Client) => {
    const bodies = Array.from({ length: Math.ceil(amount / connections) }, () => delivery(sent++))
    client.setRequests(bodies.map((body) => ({ method: "POST", path: "/updates", headers, body })))
    client.on("response", () => {
      ended = performance.now()
    })
    began = performance.now()
  }
  const { errors, non2xx } = await autocannon({
    url,
    connections,
    amount,
    setupClient,
    ...(overallRate === undefined ? {} : { overallRate })
  })
  if (non2xx + errors > 0) throw new Error(`${non2xx} deliveries were refused, ${errors} broke off`)
  return ended - began
}

const cpuOf = async ({ child }: Started): Promise<number> => {
  child.send("cpu")
  const [{ cpu }] = (await once(child, "message")) as [{ readonly cpu: number }]
  return cpu
}

const connections = 32
const warmUps = 2
const rounds = 5
const amount = 8000

/** Updates a second that keep neither server busy. */
const rate = 2000

/**
 * The CPU that the server takes for an update. The median of several rounds. Both servers get the same load, and get warm
 * under a full one: a server that outruns its client finds it awake, and what it writes then costs the kernel half as
 * much.
 */
export const webhookCost = async (): Promise<Measured> => {
  const servers = { webhook: await start("memory"), bare: await start("bare") }
  const costs = { webhook: new Array<number>(), bare: new Array<number>() }
  for (let round = -warmUps; round < rounds; round++) {
    for (const name of ["webhook", "bare"] as const) {
      const server = servers[name]
      // What it takes to empty the inbox comes before the first look.
      await cpuOf(server)
      const before = await cpuOf(server)
      await deliver(server.url, connections, amount, round < 0 ? undefined : rate)
      const cost = ((await cpuOf(server)) - before) / amount
      if (round >= 0) costs[name].push(cost)
    }
  }
  await Promise.all(Object.values(servers).map(stop))
  return compare({ name: "webhook", costs: costs.webhook }, { name: "bare node:http", costs: costs.bare }, "us CPU")
}

/** How many updates a second stand in a SQLite file when they are answered. The median of several rounds. */
export const sqliteRate = async (): Promise<Measured> => {
  const server = await start("sqlite")
  const rates: Array<number> = []
  for (let round = -1; round < 5; round++) {
    const millis = await deliver(server.url, 200, 20_000)
    if (round >= 0) rates.push((20_000 * 1000) / millis)
  }
  await stop(server)
  return { value: median(rates), detail: rates.map((rate) => rate.toFixed(0)).join(", ") }
}

/** How much the webhook and the driver grow over a million updates. */
export const millionGrowth = async (): Promise<Measured> => {
  const { after, before } = await costsOf("million.ts")
  const [from, to] = [before[0] / 2 ** 20, after[0] / 2 ** 20]
  return { value: to - from, detail: `resident ${from.toFixed(0)} MB before, ${to.toFixed(0)} MB after` }
}
