import { execFile } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { costsOf, type Costs } from "./child.ts"
import { type Measured, median } from "./figure.ts"

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

/** The lower rate of the two ways to track updates in SQLite. */
export const trackRate = async (): Promise<Measured> => {
  const rates = Object.entries(await costsOf("trackedChats.ts")).map(
    ([way, measured]) => [way, median(measured)] as const
  )
  return {
    value: Math.min(...rates.map(([, rate]) => rate)),
    detail: rates.map(([way, rate]) => `${way} ${rate.toFixed(0)}`).join(", ")
  }
}
