/**
 * Bundles the command `colloquy-emulator`, which starts three times as fast, with a chunk for its MCP server, and builds its
 * page.
 */
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { licensesOf } from "./internal/licenses.ts"
import { buildPage } from "./internal/page.ts"
import { root } from "./internal/workspace.ts"

const folder = join(root, "packages/testing")

const target = join(folder, "dist/internal/command")

const bundle = await rolldown({
  input: join(folder, "src/internal/command/main.ts"),
  platform: "node",
  // Decodes images, which most runs do not need.
  external: ["image-size"],
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

await buildPage()
