/** Bundles the command `colloquy-emulator` into one file, which starts three times as fast, and builds its page. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { licensesOf } from "./internal/licenses.ts"
import { buildPage } from "./internal/page.ts"
import { root } from "./internal/workspace.ts"

const folder = join(root, "packages/testing")

const bundle = await rolldown({
  input: join(folder, "src/internal/command/main.ts"),
  platform: "node",
  // Decodes images, which most runs do not need.
  external: ["image-size"],
  resolve: { conditionNames: ["source", "import", "node", "default"] },
  logLevel: "silent"
})
const { output } = await bundle.write({
  file: join(folder, "dist/internal/command/main.js"),
  format: "esm",
  minify: true,
  codeSplitting: false
})
await bundle.close()

writeFileSync(
  join(folder, "dist/internal/command/main.licenses.txt"),
  licensesOf(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])))
)

await buildPage()
