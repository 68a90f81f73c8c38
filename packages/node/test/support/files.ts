import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder that is deleted when the scope ends. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const file = Effect.map(folder, (folder) => join(folder, "inbox.sqlite"))
