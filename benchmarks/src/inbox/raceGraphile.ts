/**
 * Handles the jobs that wait in graphile-worker: `raceGraphile.ts DATABASE`. Its option `localQueue` is faster, but runs
 * jobs of one queue at the same time, so that the updates of a chat lose their order. It stays off, which is the default.
 */
import { Logger, run, runMigrations } from "graphile-worker"
import { contend } from "./contender.ts"
import * as places from "./places.ts"
import { concurrency, graphileConnections } from "./race.ts"

const options = {
  connectionString: places.postgresUrl(process.argv[2]!),
  maxPoolSize: graphileConnections,
  logger: new Logger(() => () => undefined),
  noHandleSignals: true
}
await runMigrations(options)

contend((record) => {
  void run({
    ...options,
    concurrency,
    taskList: {
      handle: (payload) => {
        record((payload as { readonly timestamp: number }).timestamp)
      }
    }
  })
})
