import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { compare, type Measured } from "./figure.ts"

/** The costs that a separate process printed: for each contender, one number per round. */
export type Costs = Readonly<Record<string, ReadonlyArray<number>>>

const workspace = fileURLToPath(new URL("..", import.meta.url))

const output = (args: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: workspace, stdio: ["ignore", "pipe", "inherit"] })
    let text = ""
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString()
    })
    child.on("error", reject)
    child.on("close", (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${args.join(" ")} exited with ${code}`))
    )
  })

/** Runs a program in a separate process, so that it shares neither heap nor compiled code. */
export const costsOf = async (
  program: string | readonly [program: string, ...args: ReadonlyArray<string>],
  ...flags: ReadonlyArray<string>
): Promise<Costs> => {
  const [name, ...args] = typeof program === "string" ? [program] : program
  return JSON.parse(await output(["--conditions=source", ...flags, `src/${name}`, ...args])) as Costs
}

export const printCosts = (costs: Costs): void => console.log(JSON.stringify(costs))

/** The ratio of two costs that a program prints. A rate is a ratio of costs in reverse order. */
export const ratio =
  (costs: () => Promise<Costs>, ours: string, theirs: string, unit: string) => async (): Promise<Measured> => {
    const measured = await costs()
    return compare({ name: ours, costs: measured[ours] }, { name: theirs, costs: measured[theirs] }, unit)
  }
