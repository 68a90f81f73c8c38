/** Builds the documentation as a site into `site/dist`. `--base /path/` is the path at which it is served. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { build } from "vitepress"
import { modules } from "../scripts/internal/reference.ts"
import { root } from "../scripts/internal/workspace.ts"
import { buildFrame } from "./internal/frame.ts"
import { llms } from "./internal/llms.ts"
import { readSite } from "./internal/pages.ts"
import { declarations } from "./internal/types.ts"

const site = join(root, "site")

const target = join(site, ".pages")

const { values } = parseArgs({ options: { base: { type: "string", default: "/" }, out: { type: "string" } } })

rmSync(target, { recursive: true, force: true })

const all = await modules()
const { assets, pages } = readSite(all)

for (const [path, text] of pages) {
  mkdirSync(dirname(join(target, path)), { recursive: true })
  writeFileSync(join(target, path), text)
}
for (const [to, from] of assets) cpSync(join(root, from), join(target, "public", to))
for (const name of ["index.md", "playground.md"]) cpSync(join(site, name), join(target, name))

mkdirSync(join(target, "public"), { recursive: true })
cpSync(join(site, "icon.svg"), join(target, "public/icon.svg"))
writeFileSync(join(target, "public/llms.txt"), llms(all))

await buildFrame(join(target, "public/emulator"))
writeFileSync(join(target, "public/emulator/types.bin"), declarations())
await build(site, { base: values.base, ...(values.out === undefined ? {} : { outDir: values.out }) })
