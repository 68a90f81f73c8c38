/**
 * Plants defects into a copy of the library, and searches each with the simulator: `npm run defects -- --seeds 3000`.
 *
 * - `--seeds`: how many seeds of each of its programs are run at most. Default: 3000. `--seed`: the first. Default: 1.
 * - `--name`, also several times: the beginning of the names of defects. Default: all.
 *
 * Prints a line for each defect, how many seeds were run until it was found, and the time of one core that this took. Exits with 1 if
 * one was not found.
 */
import { parseArgs } from "node:util"
import { defects } from "../test/simulation/defects/defects.ts"
import { checkCopy, makeCopy, removeCopy, search } from "../test/simulation/defects/plant.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "3000" },
    seed: { type: "string", default: "1" },
    name: { type: "string", multiple: true, default: [""] }
  }
})

const folder = makeCopy()
const chosen = defects.filter(({ name }) => values.name.some((beginning) => name.startsWith(beginning)))
const seeds: Array<number> = []
let cpu = 0
try {
  await checkCopy(folder)
  for (const defect of chosen) {
    const options = { firstSeed: Number(values.seed), seeds: Number(values.seeds) }
    const { cpuSeconds, found } = await search(folder, defect, options)
    cpu += cpuSeconds
    if (found !== undefined) seeds.push(found.seeds)
    const seconds = `${cpuSeconds.toFixed(0)} s`.padStart(5)
    console.log(
      found === undefined
        ? `    MISSED ${seconds} ${defect.name}`
        : `${String(found.seeds).padStart(4)} seeds ${seconds} ${defect.name} (${found.program}: ${found.rule})`
    )
  }
} finally {
  removeCopy(folder)
}
seeds.sort((one, other) => one - other)
const median = seeds[Math.floor(seeds.length / 2)] ?? 0
console.log(
  `${seeds.length} of ${chosen.length} found, after ${median} seeds in the median and ${seeds.at(-1) ?? 0} in the worst case, ` +
    `${(cpu / 60).toFixed(1)} minutes of one core`
)
process.exitCode = seeds.length === chosen.length ? 0 : 1
