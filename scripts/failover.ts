/**
 * Lets the server of an inbox fail over while a bot receives and handles updates: `npm run failover`.
 *
 * Starts PostgreSQL with a replica, Redis with a replica and three sentinels, and a Redis Cluster, as processes of their own.
 * After half of the updates, the primary is killed or demoted. Prints for each engine how many confirmed updates were lost
 * and handled again. Exits with 1 if an engine that promises to lose nothing has lost an update.
 *
 * - `--engine`: one of the names in the first column. Default: all. `--updates`: updates of each engine. Default: 1,000.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { engines } from "../test/failover/engines.ts"
import { run } from "../test/failover/run.ts"

const { values } = parseArgs({ options: { engine: { type: "string" }, updates: { type: "string", default: "1000" } } })

const selected = engines.filter(({ name }) => values.engine === undefined || values.engine === name)
if (selected.length === 0) {
  throw new Error(`There is no engine "${values.engine}". Use ${engines.map(({ name }) => name).join(", ")}.`)
}

for (const { failover, isInstalled, losesNothing, name } of selected) {
  if (!isInstalled) {
    console.log(`${name}: skipped, because the programs of the server are not installed`)
    continue
  }
  const report = await Effect.runPromise(run(failover, Number(values.updates)))
  const promise = losesNothing ? "promised: 0" : "nothing is promised"
  console.log(
    `${name}: ${report.confirmed} confirmed, ${report.lost} lost (${promise}), ${report.repeated} handled again, ` +
      `${report.outOfOrder} chats out of order, ${report.missingInState} missing in the state, ` +
      `no confirmation for ${(report.longestPause / 1000).toFixed(1)} s`
  )
  if (losesNothing && (report.lost > 0 || report.missingInState > 0)) process.exitCode = 1
}
