import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { engines } from "./failover/engines.ts"
import { run } from "./failover/run.ts"

/** In CI, the programs of the servers are installed. */
const isSkipped = (isInstalled: boolean) => !isInstalled && process.env["CI"] !== "true"

/** The engines without a lag differ from others only by the time of the failure. */
const tested = ["pg-synchronous", "pg-lagging", "pg-demoted", "redis-lagging", "redis-cluster"]

describe.each(engines.filter(({ name }) => tested.includes(name)))("a failover of $name", (engine) => {
  const { failover, isInstalled, losesNothing } = engine
  it.live.skipIf(isSkipped(isInstalled))(
    losesNothing ? "loses no confirmed update" : "lets the bot go on with the data of the replica",
    () =>
      Effect.gen(function* () {
        const { confirmed, lost, missingInState, outOfOrder } = yield* run(failover, 200)
        assert.strictEqual(confirmed, 200)
        assert.strictEqual(outOfOrder, 0)
        if (losesNothing) assert.deepStrictEqual({ lost, missingInState }, { lost: 0, missingInState: 0 })
      })
  )
})
