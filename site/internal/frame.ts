/** Builds the page in which the emulator and the bot run. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { root } from "../../scripts/internal/workspace.ts"
import { licensesOf } from "../../scripts/internal/licenses.ts"
import { pageStyle } from "../../scripts/internal/page.ts"

const source = join(root, "site/frame")

/** `core` and `effect` are what a bot imports, and `types` is the compiler of the editor. */
const entries = ["main", "core", "effect", "types"]

/** The modules of Node that the emulator imports to serve files. A browser has no files. */
const withoutFiles = {
  name: "without-files",
  resolveId: (id: string) => (id === "node:fs" || id === "node:url" ? join(source, "files.ts") : null)
}

/** Writes the page into `folder`. A bot imports the same instances of the packages as the emulator. */
export const buildFrame = async (folder: string): Promise<void> => {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name === "main" ? "frame" : name, join(source, `${name}.ts`)])),
    platform: "browser",
    plugins: [withoutFiles],
    // The settings of the checked types are not those of the bundle.
    tsconfig: false,
    transform: { jsx: { runtime: "automatic", importSource: "preact" } },
    resolve: { conditionNames: ["source", "browser", "import", "default"] },
    logLevel: "warn"
  })
  mkdirSync(folder, { recursive: true })
  const { output } = await bundle.write({
    dir: folder,
    format: "esm",
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js"
  })
  await bundle.close()
  writeFileSync(join(folder, "frame.css"), pageStyle())
  writeFileSync(join(folder, "index.html"), readFileSync(join(source, "index.html"), "utf8"))
  writeFileSync(
    join(folder, "licenses.txt"),
    licensesOf(
      output
        .flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
        // Modules that the bundler makes have no license.
        .filter((id) => !id.startsWith("\0"))
    )
  )
}
