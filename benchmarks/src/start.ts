import { spawnSync } from "node:child_process"
import { withBundles } from "./bundle.ts"
import { compare, type Measured } from "./figure.ts"

const rounds = 21

const millisToRun = (path: string): number => {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, [path], {
    encoding: "utf8",
    env: { ...process.env, DRY: "1" }
  })
  if (status !== 0) throw new Error(`${path} exited with ${status}: ${stderr}`)
  return performance.now() - start
}

export const startTimes = (): Promise<Measured> =>
  withBundles(async ({ ours, base }) => {
    const costs = { ours: new Array<number>(), base: new Array<number>() }
    for (let round = -2; round < rounds; round++) {
      const [o, b] = [millisToRun(ours.path), millisToRun(base.path)]
      if (round >= 0) {
        costs.ours.push(o)
        costs.base.push(b)
      }
    }
    return compare({ name: "sends a message", costs: costs.ours }, { name: "by hand", costs: costs.base }, "ms")
  })
