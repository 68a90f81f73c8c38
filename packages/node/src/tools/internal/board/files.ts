import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** The built page: beside a bundle that has this module, beside the compiled modules, or in `dist` while the sources run. */
const folders = ["./board/", "../board/", "../../../board/", "../../../../dist/board/"]

const types: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
  "page.licenses.txt": "text/plain; charset=utf-8"
}

const readBuilt = (name: string): string | undefined => {
  for (const folder of folders) {
    try {
      return readFileSync(fileURLToPath(new URL(folder + name, import.meta.url)), "utf8")
    } catch {
      // The next folder may have the file.
    }
  }
  return undefined
}

/** Reads a file of the page. */
export const fileOf = (name: string): { readonly type: string; readonly text: string } | undefined => {
  const type = Object.hasOwn(types, name) ? types[name] : undefined
  const text = type === undefined ? undefined : readBuilt(name)
  return type === undefined || text === undefined ? undefined : { type, text }
}
