import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { files, root } from "../scripts/internal/workspace.ts"
import { included, reasonToSkip, runtimeOf, skipped } from "./runtimes/tests.ts"

const names = { node: "Node", bun: "Bun", deno: "Deno" } as const

const row = ({ group, on, path, reason, title }: (typeof skipped)[number]) =>
  `| “${title} …” in \`${path}\`${group === undefined ? "" : `, ${group}`} | ${on.map((name) => names[name]).join(", ")} | ${reason} |`

describe("docs/runtimes.md", () => {
  it("lists exactly the tests that do not run on a runtime", () => {
    const [page] = files("docs/runtimes.md")
    const [, after] = page.text.split("## Tests that are left out")
    const [table] = after.split("\n## ")
    const rows = table.split("\n").filter((line) => line.startsWith("|"))
    assert.deepStrictEqual(rows.slice(2), skipped.map(row))
  })
})

describe("the tests that run on Bun and Deno", () => {
  it("exist", () => {
    for (const [name, patterns] of Object.entries(included)) {
      for (const pattern of patterns) {
        assert.isNotEmpty(files(`packages/${name}/test/${pattern}.test.ts`), `${name}: ${pattern}`)
      }
    }
    for (const { path } of skipped) assert.isTrue(existsSync(join(root, "packages", path)), path)
  })

  it("are skipped on the named runtime only", () => {
    const file = join(root, "packages/testing/test/emulator/http/nodeServer.test.ts")
    assert.isString(reasonToSkip("bun", file, "answers OPTIONS * with all methods of the host"))
    assert.isUndefined(reasonToSkip("deno", file, "answers OPTIONS * with all methods of the host"))
    assert.isUndefined(reasonToSkip("bun", file, "answers"))
    const stores = join(root, "packages/node/test/inbox/processes.slow.test.ts")
    assert.isString(reasonToSkip("deno", stores, "wakes a process that listens", "in SQLite"))
    assert.isUndefined(reasonToSkip("deno", stores, "wakes a process that listens", "in Redis"))
  })
})

describe("runtimeOf", () => {
  it("knows Bun and Deno, which also report a version of Node", () => {
    assert.strictEqual(runtimeOf({ ...process.versions, bun: "1.4.5" }), "bun")
    assert.strictEqual(runtimeOf({ ...process.versions, deno: "2.9.6" }), "deno")
    assert.strictEqual(runtimeOf(process.versions), "node")
  })
})
