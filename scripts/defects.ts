/**
 * Plants defects into a copy of the library, and searches each with the simulator: `npm run defects -- --seeds 300`.
 *
 * - `--seeds`: how many seeds of each of its programs are run at most. Default: 300. `--seed`: the first. Default: 1.
 * - `--name`: the beginning of the names of defects. Default: all.
 *
 * Prints a line for each defect, and exits with 1 if one was not found.
 */
import { parseArgs } from "node:util"
import { defects } from "../test/simulation/defects/defects.ts"
import { checkCopy, makeCopy, removeCopy, search } from "../test/simulation/defects/plant.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    name: { type: "string", default: "" }
  }
})

const folder = makeCopy()
const startedAt = performance.now()
let missed = 0
try {
  await checkCopy(folder)
  for (const defect of defects.filter(({ name }) => name.startsWith(values.name))) {
    const found = await search(folder, defect, { firstSeed: Number(values.seed), seeds: Number(values.seeds) })
    if (found === undefined) missed++
    console.log(
      found === undefined
        ? `MISSED    ${defect.name}`
        : `${String(found.seeds).padStart(4)} seeds ${defect.name} (${found.program}: ${found.rule})`
    )
  }
} finally {
  removeCopy(folder)
}
console.log(`${missed} missed, ${Math.round((performance.now() - startedAt) / 1000)} s`)
process.exitCode = missed === 0 ? 0 : 1
