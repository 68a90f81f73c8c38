/** Writes the API reference of each package into `dist/docs` of the package. `npm run build` runs it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { index, modules, pageOf } from "./internal/reference.ts"
import { publicPackages, root } from "./internal/workspace.ts"

const all = await modules()

for (const name of publicPackages) {
  const folder = join(root, "packages", name, "dist/docs")
  const own = all.filter((module) => module.package === name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const module of own) writeFileSync(join(folder, `${module.name}.md`), pageOf(module))
  writeFileSync(
    join(folder, "README.md"),
    index(own, (module) => `${module.name}.md`)
  )
}
