import * as postgres from "./postgres.ts"
import * as redis from "./redis.ts"
import type { Failover } from "./run.ts"

export interface Engine {
  readonly name: string
  readonly failover: Failover
  /** Whether every confirmed update is handled, and in the state of the bot afterwards. */
  readonly losesNothing: boolean
  readonly isInstalled: boolean
}

/** The table of `docs/stores.md` has a row for each of them. */
export const engines: ReadonlyArray<Engine> = [
  { name: "pg-synchronous", failover: postgres.synchronous, losesNothing: true, isInstalled: postgres.isInstalled },
  { name: "pg-asynchronous", failover: postgres.asynchronous, losesNothing: false, isInstalled: postgres.isInstalled },
  { name: "pg-lagging", failover: postgres.lagging, losesNothing: false, isInstalled: postgres.isInstalled },
  { name: "pg-demoted", failover: postgres.demoted, losesNothing: true, isInstalled: postgres.isInstalled },
  { name: "redis-sentinel", failover: redis.sentinel, losesNothing: false, isInstalled: redis.isInstalled },
  { name: "redis-lagging", failover: redis.lagging, losesNothing: false, isInstalled: redis.isInstalled },
  { name: "redis-cluster", failover: redis.cluster, losesNothing: false, isInstalled: redis.isInstalled }
]
