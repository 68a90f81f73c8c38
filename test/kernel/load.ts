/** Loads the kernel of the inbox with public fields, so that its state can be copied and compared, perhaps with a defect. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Kernel } from "../../packages/core/src/inbox/internal/kernel/kernel.ts"
import { type Change, planted } from "../simulation/defects/plant.ts"

const folder = fileURLToPath(new URL("../../packages/core/src/inbox/internal/kernel/", import.meta.url))

export interface Loaded {
  readonly Kernel: typeof Kernel
}

/** The fields of a class are public, and a file that is outside the folder is found from everywhere. */
const opened = (text: string): string =>
  text
    .replace(/#(?=[a-z])/g, "_")
    .replace(/from "(\.\.\/[^"]+)"/g, (_, path: string) => `from "${new URL(path, pathToFileURL(folder)).href}"`)

export const load = async (defect?: Change): Promise<Loaded> => {
  const copy = mkdtempSync(join(tmpdir(), "colloquy-kernel-"))
  try {
    for (const name of readdirSync(folder)) {
      const isDefective = defect?.file.endsWith(`/${name}`) === true
      const text = isDefective ? planted(defect) : readFileSync(join(folder, name), "utf8")
      writeFileSync(join(copy, name), opened(text))
    }
    return (await import(/* @vite-ignore */ pathToFileURL(join(copy, "kernel.ts")).href)) as Loaded
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
