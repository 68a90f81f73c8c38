import { execFile } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { costsOf, type Costs } from "./child.ts"
import { compare, type Measured } from "./figure.ts"

const program = fileURLToPath(new URL("storedChats.ts", import.meta.url))

const run = async (...args: ReadonlyArray<string>): Promise<string> =>
  (await promisify(execFile)(process.execPath, ["--conditions=source", program, ...args])).stdout

const name = `bench_chats_${process.pid}`

const places = { SQLite: join(tmpdir(), `${name}.sqlite`), PostgreSQL: name, Redis: `${name}:` }

const growthOf = async ([store, place]: readonly [string, string]) => {
  try {
    await run("fill", store, place)
    const { before, most } = JSON.parse(await run("stream", store, place)) as Costs
    return { store, growth: most[0] - before[0] }
  } finally {
    await run("drop", store, place)
  }
}

/** Memory growth of a process while it streams 200,000 chats. The store with the highest growth counts. */
export const streamGrowth = async (): Promise<Measured> => {
  const growths = []
  for (const place of Object.entries(places)) growths.push(await growthOf(place))
  return {
    value: Math.max(...growths.map(({ growth }) => growth)),
    detail: growths.map(({ store, growth }) => `${store} ${growth.toFixed(0)} MB`).join(", ")
  }
}

/** Updates per second that are tracked in SQLite, over node:sqlite: the lower ratio of the two ways. */
export const trackOverBare = async (): Promise<Measured> => {
  const { bare, ...ways } = await costsOf("trackedChats.ts")
  const measured = Object.entries(ways).map(([way, costs]) =>
    // The figure is a ratio of rates, so the costs are passed in reverse order.
    compare({ name: "node:sqlite", costs: bare }, { name: way, costs }, "us")
  )
  return {
    value: Math.min(...measured.map(({ value }) => value)),
    detail: measured.map(({ detail, value }) => `${value.toFixed(2)} (${detail})`).join(", ")
  }
}
