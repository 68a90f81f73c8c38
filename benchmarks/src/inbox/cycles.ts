import { costsOf } from "../child.ts"
import { compare, type Measured, median } from "../figure.ts"
import * as places from "./places.ts"

const costsOn = (store: places.Store) =>
  places.withPlace(store, (place) => costsOf(["inbox/cycleRates.ts", ...places.toArguments(place)]))

/** Updates per second of an inbox, over those of its peer. The figures are ratios of rates, so the costs are in reverse order. */
const overPeer = async (store: places.Store, name: string): Promise<Measured> => {
  const { many, peer } = await costsOn(store)
  return compare({ name, costs: peer }, { name: "Updates.run", costs: many }, "us")
}

export const sqliteOverBare = (): Promise<Measured> => overPeer("sqlite", "node:sqlite")

export const redisOverStreams = (): Promise<Measured> => overPeer("redis", "Redis Streams")

/** Updates per second of 10 chats, over those of 1,000 chats: the lower ratio of PostgreSQL and SQLite. */
export const fewOverMany = async (): Promise<Measured> => {
  const ratios: Array<number> = []
  const details: Array<string> = []
  for (const store of ["postgres", "sqlite"] as const) {
    const { few, many } = await costsOn(store)
    const { detail, value } = compare({ name: "1,000 chats", costs: many }, { name: "10 chats", costs: few }, "us")
    ratios.push(value)
    details.push(`${store} ${value.toFixed(2)} (${detail}, ${(1e6 / median(few)).toFixed(0)}/s)`)
  }
  return { value: Math.min(...ratios), detail: details.join("; ") }
}
