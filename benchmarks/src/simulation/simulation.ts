/** What the simulator finds, and how fast it is. It runs in processes of its own, as `npm run simulate` does. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { lazily, type Measured, median } from "../figure.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const run = promisify(execFile)

const runScript = async (script: string, ...args: ReadonlyArray<string>): Promise<string> => {
  const { stdout } = await run(process.execPath, ["--conditions=source", `scripts/${script}.ts`, ...args], {
    cwd: root,
    maxBuffer: 2 ** 28
  })
  return stdout
}

interface Search {
  /** Seeds until each defect was found. */
  readonly found: ReadonlyArray<number>
  readonly missed: number
  readonly minutes: number
}

const searchAll = async (): Promise<Search> => {
  // It exits with 1 if a defect was not found.
  const output = await runScript("defects").catch((error: { readonly stdout: string }) => error.stdout)
  const summary = /^(\d+) of (\d+) found, .* ([\d.]+) minutes of one core$/m.exec(output)
  if (summary === null) throw new Error(`The search for defects failed: ${output.slice(-1000)}`)
  const found = [...output.matchAll(/^ *(\d+) seeds /gm)].map(([, seeds]) => Number(seeds))
  return { found, missed: Number(summary[2]) - Number(summary[1]), minutes: Number(summary[3]) }
}

const search = lazily(searchAll)

export const missed = async (): Promise<Measured> => {
  const { found, minutes, missed } = await search()
  return {
    value: missed,
    detail: `${found.length} of ${found.length + missed} found in ${minutes} minutes of one core`
  }
}

export const seeds = async (): Promise<Measured> => {
  const { found } = await search()
  return { value: median(found), also: Math.max(...found), detail: `${found.length} defects` }
}

export const speed = async (): Promise<Measured> => {
  const output = await runScript("simulate", "--seed", "1", "--seeds", "100")
  const [, hours, value] = /^([\d.]+) virtual hours \((\d+) for each hour of CPU time\)/m.exec(output) ?? []
  if (value === undefined) throw new Error(`The simulation failed: ${output.slice(-1000)}`)
  return { value: Number(value), detail: `${hours} virtual hours` }
}

export const kernelStates = async (): Promise<Measured> => {
  const output = await runScript("explore", "--states", "60000").catch(
    (error: { readonly stdout: string }) => error.stdout
  )
  const [detail, states, violations] = /^(\d+) states, (\d+) violations$/m.exec(output) ?? []
  if (detail === undefined) throw new Error(`The exploration failed: ${output.slice(-1000)}`)
  return { value: Number(states), also: Number(violations), detail }
}
