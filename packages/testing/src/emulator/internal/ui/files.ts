import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Response, respond } from "../../EmulatorHttp.ts"
import * as refusal from "../http/refusal.ts"

/** The built page: beside the compiled modules, or in `dist` while the emulator runs from its sources. */
const folders = ["../../../ui/", "../../../../dist/ui/"]

const types: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
  "page.licenses.txt": "text/plain; charset=utf-8"
}

/** The page runs only its own script and requests nothing from other hosts. Mini apps are in frames. */
const policy = [
  "default-src 'self'",
  "frame-src http: https:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'"
].join("; ")

const headers = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache"
}

const readBuilt = (name: string): string | undefined => {
  for (const folder of folders) {
    try {
      return readFileSync(fileURLToPath(new URL(folder + name, import.meta.url)), "utf8")
    } catch {
      // The next folder may have the file. A worker has no folders.
    }
  }
  return undefined
}

const notBuilt = refusal.of(503, "page.not.built", "The page is not built: run `npm run page` in the workspace")

/** A file of the page. */
export const servePage = (name: string): Effect.Effect<Response, refusal.Refusal> =>
  Effect.suspend((): Effect.Effect<Response, refusal.Refusal> => {
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    if (type === undefined) return refusal.notFound(`The file ${name} of the page`)
    const text = readBuilt(name)
    return text === undefined ? notBuilt : Effect.succeed(respond(200, text, { ...headers, "content-type": type }))
  })
