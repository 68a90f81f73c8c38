import autocannon from "autocannon"
import * as Record from "effect/Record"
import { costsOf } from "./child.ts"
import { delivery, secret } from "./deliveries.ts"
import { compare, type Measured } from "./figure.ts"
import { startServer } from "./processes.ts"
import { takeTurns } from "./rounds.ts"

const startWebhook = async (program: string) => {
  const server = await startServer<object, { readonly cpu: number }>("webhook.ts", [program])
  return {
    url: server.url,
    cpu: async () => (await server.ask({})).cpu,
    stop: async () => {
      server.child.disconnect()
      await server.exited
    }
  }
}

type WebhookServer = Awaited<ReturnType<typeof startWebhook>>

const withServers = async <A>(
  ours: string,
  theirs: string,
  use: (servers: Readonly<Record<"webhook" | "bare", WebhookServer>>) => Promise<A>
): Promise<A> => {
  const servers = { webhook: await startWebhook(ours), bare: await startWebhook(theirs) }
  const result = await use(servers)
  await Promise.all([servers.webhook.stop(), servers.bare.stop()])
  return result
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

const connections = 32
const amount = 8000

/** A load in updates per second that saturates neither server. */
const rate = 2000

/**
 * CPU time of the server per update, as the median of several rounds. Both servers get the same partial load after a
 * warm-up under full load: under full load, the faster server would find the client awake, which halves the cost of
 * its writes in the kernel.
 */
export const webhookCost = (): Promise<Measured> =>
  withServers("memory", "bare", async (servers) => {
    const costOf = (server: WebhookServer) => async (round: number) => {
      // The inbox is emptied before the first measurement.
      await server.cpu()
      const before = await server.cpu()
      await deliver(server.url, connections, amount, round < 0 ? undefined : rate)
      return ((await server.cpu()) - before) / amount
    }
    const costs = await takeTurns(Record.map(servers, costOf), { rounds: 5, warmUps: 2 })
    return compare({ name: "webhook", costs: costs.webhook }, { name: "bare node:http", costs: costs.bare }, "us CPU")
  })

/** Deliveries per second that are stored in a SQLite file before they are acknowledged, over the same with node:sqlite. */
export const sqliteOverBare = (): Promise<Measured> =>
  withServers("sqlite", "bare-sqlite", async (servers) => {
    const costOf = (server: WebhookServer) => async () => ((await deliver(server.url, 200, 20_000)) * 1000) / 20_000
    const costs = await takeTurns(Record.map(servers, costOf), { rounds: 5 })
    // The figure is a ratio of rates, so the costs are passed in reverse order.
    return compare({ name: "node:sqlite", costs: costs.bare }, { name: "webhook", costs: costs.webhook }, "us")
  })

/** Memory growth of the webhook and `Bot.run` over a million updates. */
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
