/** Bundles the commands, which start three times as fast, and builds the page of the emulator and the page of the board. */
import { cpSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { rolldown } from "rolldown"
import { licensesOf } from "./internal/licenses.ts"
import { buildPages } from "./internal/page.ts"
import { root } from "./internal/workspace.ts"

/** Bundles a module and what it imports. What it imports on demand is in chunks. */
const bundleCommand = async (name: string, main: string, external: ReadonlyArray<string>) => {
  const target = join(root, "packages", name, "dist", dirname(main))
  const bundle = await rolldown({
    input: join(root, "packages", name, "src", main),
    platform: "node",
    external: [...external],
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    logLevel: "silent"
  })
  rmSync(join(target, "chunks"), { recursive: true, force: true })
  const { output } = await bundle.write({
    dir: target,
    entryFileNames: "main.js",
    chunkFileNames: "chunks/[name].js",
    format: "esm",
    minify: true
  })
  await bundle.close()
  writeFileSync(
    join(target, "main.licenses.txt"),
    licensesOf(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])))
  )
}

// image-size decodes images, which most runs of the emulator do not need.
await bundleCommand("testing", "emulator/internal/command/main.ts", ["image-size"])
await bundleCommand("create", "main.ts", [])
await bundleCommand("cli", "main.ts", [])

await buildPages()

// The command has `NodeBoard` in its bundle, which looks for the page beside it.
cpSync(join(root, "packages/node/dist/board"), join(root, "packages/cli/dist/board"), { recursive: true })
