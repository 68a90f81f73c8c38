/** Plants defects into a copy of the library in a temporary folder, and runs the simulator on it. */
import { execFile } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Defect } from "./defect.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** What the simulator consists of. */
const copied = ["package.json", "packages/core", "packages/testing", "packages/node", "test/simulation", "scripts"]

const isCopied = (path: string): boolean => !/\/(dist|dist-test|node_modules|coverage)(\/|$)/.test(path)

/** Copies the sources, with links to the packages of others. */
export const makeCopy = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-defects-"))
  for (const path of copied) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (source) => isCopied(source.slice(root.length - 1))
    })
  }
  const modules = join(folder, "node_modules")
  mkdirSync(join(modules, "@colloquy"), { recursive: true })
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== "@colloquy") symlinkSync(join(root, "node_modules", name), join(modules, name))
  }
  for (const name of ["core", "testing", "node"]) {
    symlinkSync(join(folder, "packages", name), join(modules, "@colloquy", name))
  }
  return folder
}

export const removeCopy = (folder: string): void => rmSync(folder, { recursive: true, force: true })

const sourceOf = (folder: string, { file }: Defect): string => join(folder, "packages/core/src", file)

/** Returns the source of a file with the defect. Throws if the file does not have the text of the defect once. */
export const planted = (defect: Defect): string => {
  const text = readFileSync(sourceOf(root, defect), "utf8")
  const parts = text.split(defect.find)
  if (parts.length !== 2) {
    throw new Error(`${defect.name}: ${defect.file} has its text ${parts.length - 1} times. Update the defect.`)
  }
  return parts.join(defect.replace)
}

/** Where the simulator has found a defect. */
export interface Found {
  readonly program: string
  /** How many seeds were run until then. */
  readonly seeds: number
  /** The rule that did not hold, or that a run did not end. */
  readonly rule: string
}

const run = promisify(execFile)

/** Runs the simulator in a copy. Returns what it prints, also if it finds something or does not end in time. */
const simulate = async (folder: string, args: ReadonlyArray<string>, timeout: number): Promise<string> => {
  try {
    const { stdout } = await run(process.execPath, ["--conditions=source", "scripts/simulate.ts", ...args], {
      cwd: folder,
      timeout,
      killSignal: "SIGKILL",
      maxBuffer: 2 ** 28
    })
    return stdout
  } catch (error) {
    const { killed, stderr, stdout } = error as { killed?: boolean; readonly stdout: string; readonly stderr: string }
    if (stdout.includes("NOT TRUE")) return stdout
    if (killed === true) return "NOT TRUE: a run ends (1)"
    throw new Error(`The simulator failed: ${stderr.slice(-2000)}`, { cause: error })
  }
}

/** Fails if the simulator finds something in a copy without defects. */
export const checkCopy = async (folder: string): Promise<void> => {
  const output = await simulate(folder, ["--seed", "1", "--seeds", "3"], 120_000)
  if (output.includes("NOT TRUE")) throw new Error(`The copy without defects breaks a rule: ${output}`)
}

/** Runs seeds of the programs of a defect until it is found, at most `seeds` of each. */
export const search = async (
  folder: string,
  defect: Defect,
  options: { readonly firstSeed: number; readonly seeds: number }
): Promise<Found | undefined> => {
  const { firstSeed, seeds } = options
  const path = sourceOf(folder, defect)
  const original = readFileSync(path, "utf8")
  writeFileSync(path, planted(defect))
  try {
    let before = 0
    for (const program of defect.programs) {
      const args = ["--program", program, "--seed", String(firstSeed), "--seeds", String(seeds), "--first"]
      const output = await simulate(folder, args, seeds * 10_000 + 60_000)
      const rule = /NOT TRUE: (.*?) \(\d+\)/.exec(output)?.[1]
      const seed = Number(/^seed (\d+)/m.exec(output)?.[1] ?? firstSeed)
      if (rule !== undefined) return { program, seeds: before + seed - firstSeed + 1, rule }
      before += seeds
    }
    return undefined
  } finally {
    writeFileSync(path, original)
  }
}
