import autocannon from "autocannon"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { costsOf } from "./child.ts"
import { delivery, secret } from "./deliveries.ts"
import { compare, type Measured } from "./figure.ts"

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
 * Delivers distinct updates and returns the time in milliseconds. The bodies are created in advance, so that the
 * server is the bottleneck.
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

/** A load in updates per second that saturates neither server. */
const rate = 2000

/**
 * CPU time of the server per update, as the median of several rounds. Both servers get the same partial load after a
 * warm-up under full load: under full load, the faster server would find the client awake, which halves the cost of
 * its writes in the kernel.
 */
export const webhookCost = async (): Promise<Measured> => {
  const servers = { webhook: await start("memory"), bare: await start("bare") }
  const costs = { webhook: new Array<number>(), bare: new Array<number>() }
  for (let round = -warmUps; round < rounds; round++) {
    for (const name of ["webhook", "bare"] as const) {
      const server = servers[name]
      // The inbox is emptied before the first measurement.
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

/** Deliveries per second that are stored in a SQLite file before they are acknowledged, over the same with node:sqlite. */
export const sqliteOverBare = async (): Promise<Measured> => {
  const servers = { webhook: await start("sqlite"), bare: await start("bare-sqlite") }
  const costs = { webhook: new Array<number>(), bare: new Array<number>() }
  for (let round = -1; round < 5; round++) {
    for (const name of ["webhook", "bare"] as const) {
      const millis = await deliver(servers[name].url, 200, 20_000)
      if (round >= 0) costs[name].push((millis * 1000) / 20_000)
    }
  }
  await Promise.all(Object.values(servers).map(stop))
  // The figure is a ratio of rates, so the costs are passed in reverse order.
  return compare({ name: "node:sqlite", costs: costs.bare }, { name: "webhook", costs: costs.webhook }, "us")
}

/** Memory growth of the webhook and `Updates.run` over a million updates. */
export const millionGrowth = async (): Promise<Measured> => {
  const grown = async (program: "webhook" | "bare") => {
    const { after, before, live } = await costsOf(["millionUpdates.ts", program], "--expose-gc")
    const [from, to, used] = [before[0], after[0], live[0]].map((bytes) => bytes / 2 ** 20)
    return { growth: to - from, detail: `${from.toFixed(0)} to ${to.toFixed(0)} MB, ${used.toFixed(0)} MB live` }
  }
  const webhook = await grown("webhook")
  const bare = await grown("bare")
  return {
    value: webhook.growth,
    detail: `resident ${webhook.detail}; with JSON.parse alone ${bare.detail}`
  }
}
