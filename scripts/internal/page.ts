import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { licensesOf } from "./licenses.ts"
import { root } from "./workspace.ts"

const source = join(root, "packages/testing/ui")

const target = join(root, "packages/testing/dist/ui")

/** The style sheets, in the order of the cascade. */
const styles = ["base", "parts", "layout", "chat", "message", "attachments", "composer", "tools"]

const read = (path: string): string => readFileSync(path, "utf8")

/** The style sheets of the page as one. */
export const pageStyle = (): string => styles.map((name) => read(join(source, `style/${name}.css`))).join("\n")

/** Style sheets without comments and line breaks. */
const minifyStyle = (css: string): string =>
  css
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,]) ?/g, "$1")
    .replaceAll(/([{;][\w-]+): /g, "$1:")
    .replaceAll(";}", "}")
    .trim()

/** Changes with everything that the page is built from. */
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

/** Builds the page of the emulator into `packages/testing/dist/ui`, unless it is up to date. */
export const buildPage = async (): Promise<void> => {
  const print = fingerprint()
  const stamp = join(target, ".fingerprint")
  if (existsSync(stamp) && read(stamp) === print) return
  const bundle = await rolldown({
    input: join(source, "main.ts"),
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
  writeFileSync(join(target, "page.css"), minifyStyle(pageStyle()))
  for (const name of ["index.html", "icon.svg"]) writeFileSync(join(target, name), read(join(source, name)))
  writeFileSync(
    join(target, "page.licenses.txt"),
    licensesOf(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])))
  )
  writeFileSync(stamp, print)
}
