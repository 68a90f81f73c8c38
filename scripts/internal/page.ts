import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { licensesOf } from "./licenses.ts"
import { root } from "./workspace.ts"

const source = join(root, "packages/testing/ui")

/** A page that is built from the components of `packages/testing/ui`. */
interface Page {
  /** The folder with `main.ts` and `index.html`, relative to `source`. */
  readonly folder: string
  /** Where the page is built, relative to the workspace. */
  readonly target: string
  /** The style sheets, in the order of the cascade. */
  readonly styles: ReadonlyArray<string>
}

const emulator: Page = {
  folder: ".",
  target: "packages/testing/dist/ui",
  styles: ["base", "parts", "layout", "chat", "message", "attachments", "composer", "tools"]
}

/** The page for operators, which `NodeBoard` serves. */
const board: Page = {
  folder: "board",
  target: "packages/node/dist/board",
  styles: ["base", "parts", "layout", "tools", "board"]
}

const read = (path: string): string => readFileSync(path, "utf8")

const styleOf = ({ styles }: Page): string => styles.map((name) => read(join(source, `style/${name}.css`))).join("\n")

/** The style sheets of the page of the emulator as one. */
export const pageStyle = (): string => styleOf(emulator)

/** Style sheets without comments and line breaks. */
const minifyStyle = (css: string): string =>
  css
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,]) ?/g, "$1")
    .replaceAll(/([{;][\w-]+): /g, "$1:")
    .replaceAll(";}", "}")
    .trim()

/** Changes with everything that the pages are built from. */
const fingerprint = (): string => {
  const hash = createHash("sha256")
  const inputs = [
    ...globSync("**/*.{ts,tsx,css,html,svg}", { cwd: source }).map((path) => join(source, path)),
    ...globSync("src/base/internal/{json,nesting}.ts", { cwd: join(root, "packages/core") }).map((path) =>
      join(root, "packages/core", path)
    ),
    join(root, "package-lock.json"),
    join(root, "scripts/internal/page.ts")
  ]
  for (const path of inputs.sort()) hash.update(read(path))
  return hash.digest("hex")
}

const build = async (page: Page, print: string): Promise<void> => {
  const target = join(root, page.target)
  const stamp = join(target, ".fingerprint")
  if (existsSync(stamp) && read(stamp) === print) return
  const bundle = await rolldown({
    input: join(source, page.folder, "main.ts"),
    platform: "browser",
    transform: { jsx: { runtime: "automatic", importSource: "preact" } },
    resolve: { conditionNames: ["source", "browser", "import", "default"] },
    logLevel: "silent"
  })
  mkdirSync(target, { recursive: true })
  const { output } = await bundle.write({
    file: join(target, "page.js"),
    format: "esm",
    minify: true,
    codeSplitting: false
  })
  await bundle.close()
  writeFileSync(join(target, "page.css"), minifyStyle(styleOf(page)))
  writeFileSync(join(target, "index.html"), read(join(source, page.folder, "index.html")))
  writeFileSync(join(target, "icon.svg"), read(join(source, "icon.svg")))
  writeFileSync(
    join(target, "page.licenses.txt"),
    licensesOf(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])))
  )
  writeFileSync(stamp, print)
}

/** Builds the page of the emulator and the page of the board, unless they are up to date. */
export const buildPages = async (): Promise<void> => {
  const print = fingerprint()
  for (const page of [emulator, board]) await build(page, print)
}
