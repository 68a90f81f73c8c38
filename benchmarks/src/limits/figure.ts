import type { Measured } from "../figure.ts"
import { runOnce, scenarios } from "./run.ts"

/** One run of each scenario: how many windows exceeded the limit, and the time where Redis is available. */
export const sharedLimit = async (): Promise<Measured> => {
  const runs = []
  for (const scenario of scenarios) runs.push({ ...scenario, ...(await runOnce(scenario)) })
  const healthy = runs.filter(({ isHealthy }) => isHealthy)
  return {
    value: runs.reduce((sum, { windowsOver }) => sum + windowsOver, 0),
    also: healthy.reduce((sum, { overBest }) => sum + overBest, 0) / healthy.length,
    detail: runs.map(({ most, name, overBest }) => `${name}: at most ${most}, time ${overBest.toFixed(2)}`).join("; ")
  }
}
