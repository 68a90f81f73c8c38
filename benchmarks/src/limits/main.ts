/** Runs scenarios of the shared limit, and prints each run: `main.ts RUNS [SCENARIO…]`. */
import { runOnce, scenarios } from "./run.ts"

const [runs = "1", ...names] = process.argv.slice(2)

for (const scenario of scenarios.filter(({ name }) => names.length === 0 || names.includes(name))) {
  for (let run = 0; run < Number(runs); run++) {
    const { arrived, most, overBest, recordedLate, windowsOver } = await runOnce(scenario)
    console.log(
      `${scenario.name.padEnd(14)} ${arrived} arrived, at most ${most} in a window, ${windowsOver} windows over the limit, ` +
        `${overBest.toFixed(3)} of the best possible time, ${recordedLate} recorded late`
    )
  }
}
