/** Plants defects into copies of the bots in `examples/src`. */
import type { Handler } from "@colloquy/core"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { SimulatedBot } from "./simulations.ts"

/** A mistake that authors of bots make, as a change of the source of a bot. */
export interface Defect {
  /** What is wrong, in a few words. */
  readonly name: string
  readonly bot: SimulatedBot
  /** A text that the source has once, and the text in its place. */
  readonly changes: ReadonlyArray<readonly [find: string, replace: string]>
  /** What the failure says. */
  readonly rule: string
}

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

/** Returns the source of a bot with the defect. Throws if the source does not have each text once. */
export const planted = ({ bot, changes, name }: Defect): string =>
  changes.reduce(
    (source, [find, replace]) => {
      const pieces = source.split(find)
      if (pieces.length !== 2) throw new Error(`${name}: ${bot}.ts has ${find} ${pieces.length - 1} times.`)
      return pieces.join(replace)
    },
    readFileSync(pathOf(`../../src/${bot}.ts`), "utf8")
  )

interface Module {
  readonly parts: Handler.Handler<unknown, never>
}

/** Imports a bot without a defect. The simulation provides the services that the bot requires. */
export const importBot = async (bot: SimulatedBot): Promise<Module["parts"]> =>
  ((await import(pathOf(`../../src/${bot}.ts`))) as Module).parts

/** Imports a copy of a bot with a defect. */
export const importPlanted = async (defect: Defect): Promise<Module["parts"]> => {
  const folder = mkdtempSync(pathOf("./.copy-"))
  try {
    const file = `${folder}/${defect.bot}.ts`
    writeFileSync(file, planted(defect).replaceAll('from "./', 'from "../../../src/'))
    return ((await import(file)) as Module).parts
  } finally {
    rmSync(folder, { recursive: true })
  }
}
