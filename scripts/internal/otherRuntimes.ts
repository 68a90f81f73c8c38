import { existsSync } from "node:fs"
import { join } from "node:path"
import { root } from "./workspace.ts"

const installed = join(root, "tools/runtimes/node_modules")

const installedDeno = join(installed, "@deno/linux-x64-glibc/deno")

/** How a module is run on other runtimes than Node: the program and its arguments before the module. */
export const otherRuntimes = {
  bun: [join(installed, ".bin/bun"), "--bun"],
  deno: [existsSync(installedDeno) ? installedDeno : "deno", "run", "--allow-all", "--no-prompt", "--quiet"]
} as const
