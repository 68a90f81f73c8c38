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

/** The text that a defect changes. */
export type Change = Pick<Defect, "file" | "find" | "name" | "replace">

const sourceOf = (folder: string, { file }: Change): string => join(folder, "packages/core/src", file)

/** Returns the source of a file with the defect. Throws if the file does not have the text of the defect once. */
export const planted = (defect: Change, folder = root): string => {
  const text = readFileSync(sourceOf(folder, defect), "utf8")
  const parts = text.split(defect.find)
  if (parts.length !== 2) {
    throw new Error(`${defect.name}: ${defect.file} has its text ${parts.length - 1} times. Update the defect.`)
  }
  return parts.join(defect.replace)
}

/** What the search for a defect has found, and the time of one core that it took. */
export interface Search {
  readonly found: Found | undefined
  readonly cpuSeconds: number
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

/**
 * Runs the simulator in a copy. Returns what it prints, also if it finds something, or needs more than some seconds of CPU time. The
 * time of the clock would say nothing, because the computer can be busy.
 */
const simulate = async (folder: string, args: ReadonlyArray<string>, cpuSeconds: number): Promise<string> => {
  const script = `ulimit -t ${cpuSeconds}; exec "$0" --conditions=source scripts/simulate.ts "$@"`
  try {
    const { stdout } = await run("sh", ["-c", script, process.execPath, ...args], { cwd: folder, maxBuffer: 2 ** 28 })
    return stdout
  } catch (error) {
    const { signal, stderr, stdout } = error as { signal?: string; readonly stdout: string; readonly stderr: string }
    if (stdout.includes("NOT TRUE")) return stdout
    if (signal === "SIGXCPU" || signal === "SIGKILL") return `NOT TRUE: a run ends (1)\n${cpuSeconds} s of CPU time`
    throw new Error(`The simulator failed: ${stderr.slice(-2000)}`, { cause: error })
  }
}

/** The time of one core that a run of the simulator says that it took. */
const cpuSecondsOf = (output: string): number => Number(/([\d.]+) s of CPU time/.exec(output)?.[1] ?? 0)

/** Fails if the simulator finds something in a copy without defects. */
export const checkCopy = async (folder: string): Promise<void> => {
  const output = await simulate(folder, ["--seed", "1", "--seeds", "3"], 120)
  if (output.includes("NOT TRUE")) throw new Error(`The copy without defects breaks a rule: ${output}`)
}

/** How many seeds of each program are run before more seeds of the first. */
const firstRound = 15

/** Runs seeds of the programs of a defect until it is found, at most `seeds` of each. */
export const search = async (
  folder: string,
  defect: Defect,
  options: { readonly firstSeed: number; readonly seeds: number }
): Promise<Search> => {
  const { firstSeed, seeds } = options
  const path = sourceOf(folder, defect)
  const original = readFileSync(path, "utf8")
  writeFileSync(path, planted(defect, folder))
  try {
    let before = 0
    let cpuSeconds = 0
    // A few seeds of each program first, then more.
    for (let from = 0, count = firstRound; from < seeds; from += count, count *= 4) {
      const round = Math.min(count, seeds - from)
      for (const program of defect.programs) {
        const first = firstSeed + from
        const situation = defect.situation === undefined ? [] : ["--situation", defect.situation]
        const args = ["--program", program, ...situation, "--seed", String(first), "--seeds", String(round), "--first"]
        const output = await simulate(folder, args, round * 10 + 60)
        const rule = /NOT TRUE: (.*?) \(\d+\)/.exec(output)?.[1]
        const seed = Number(/^seed (\d+)/m.exec(output)?.[1] ?? first)
        cpuSeconds += cpuSecondsOf(output)
        if (rule !== undefined) return { found: { program, seeds: before + seed - first + 1, rule }, cpuSeconds }
        before += round
      }
    }
    return { found: undefined, cpuSeconds }
  } finally {
    writeFileSync(path, original)
  }
}
