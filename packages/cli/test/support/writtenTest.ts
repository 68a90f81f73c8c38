/** Runs tests that commands have written. */
import { execFile } from "node:child_process"
import { join, relative } from "node:path"

export const workspace = join(import.meta.dirname, "../../../..")

export interface Ran {
  readonly code: number
  readonly out: string
}

/** Runs a program of Node. The settings of this runner of tests are not for the runner that the program starts. */
export const node = (cwd: string, args: ReadonlyArray<string>, variables: NodeJS.ProcessEnv = {}) =>
  new Promise<Ran>((resolve) => {
    const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$)/.test(name))
    const env = { ...Object.fromEntries(own), ...variables }
    execFile(process.execPath, [...args], { cwd, env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: `${out}${err}` })
    })
  })

/** Runs the tests of a file in the workspace. */
export const runTest = (file: string, variables?: NodeJS.ProcessEnv): Promise<Ran> => {
  const vitest = join(workspace, "node_modules/vitest/vitest.mjs")
  return node(workspace, [vitest, "run", "--config", "vitest.workspace.ts", relative(workspace, file)], variables)
}

/** Returns the errors of the compiler in a file. */
export const typeErrorsIn = async (file: string): Promise<ReadonlyArray<string>> => {
  const typescript = join(workspace, "node_modules/typescript/bin/tsc")
  const options = ["--noEmit", "--ignoreConfig", "--module", "nodenext", "--target", "esnext", "--strict"]
  const source = ["--customConditions", "source", "--allowImportingTsExtensions", "--skipLibCheck", "--types", "node"]
  const { out } = await node(workspace, [typescript, ...options, ...source, file])
  return out.split("\n").filter((line) => line.includes(relative(workspace, file)))
}
