import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root, run } from "../scripts/internal/workspace.ts"

describe("the lint configuration", () => {
  let folder = ""

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "colloquy-lint-"))
    const config = readFileSync(join(root, ".oxlintrc.json"), "utf8")
    writeFileSync(join(folder, ".oxlintrc.json"), config.replaceAll('"./scripts/', `"${root}/scripts/`))
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const refuses = (path: string, code: string): boolean => {
    const file = join(folder, path)
    mkdirSync(join(file, ".."), { recursive: true })
    writeFileSync(file, `${code}\n`)
    const { ok, output } = run("oxlint", ["--deny-warnings", path], { cwd: folder })
    assert.include(output, "1 file")
    rmSync(file)
    return !ok
  }

  const core = "packages/core/src/Sample.ts"

  it.each([
    'export { readFileSync } from "node:fs"',
    'export { Effect } from "effect"',
    'export * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"',
    'export * from "@colloquy/node"',
    'export * from "../../testing/src/emulator/internal/text/markup.ts"',
    "export const value = process.pid",
    "export const value = Buffer.alloc(1)",
    "export const value = globalThis.process",
    'export const value = () => fetch("https://platform.example")',
    "export const value = () => Date.now()",
    "export const value = () => Math.random()",
    "export const value = async () => 1",
    "export const value = () => { try { return 1 } finally { value() } }",
    "export const value: any = 1"
  ])("rejects in core: %s", (code) => {
    assert.isTrue(refuses(core, code))
  })

  it.each([
    ["packages/node/src/Sample.ts", 'export * from "@colloquy/testing"'],
    ["packages/testing/src/Sample.ts", 'export * from "@colloquy/node/client/NodeBotHttpClient"'],
    ["packages/node/src/Sample.ts", 'export { NodeHttpClient } from "@effect/platform-node"'],
    ["packages/testing/src/Sample.ts", 'export { Effect } from "effect"']
  ])("rejects in %s: %s", (path, code) => {
    assert.isTrue(refuses(path, code))
  })

  it.each([
    [core, 'export * as Effect from "effect/Effect"'],
    ["packages/node/src/Sample.ts", 'export { readFileSync } from "node:fs"'],
    ["examples/src/sample.ts", 'export { Effect } from "effect"']
  ])("accepts in %s: %s", (path, code) => {
    assert.isFalse(refuses(path, code))
  })

  it.each([
    ["function", "export const value = (all: Array<number>): void => {", (line: number) => `  all.push(${line})`],
    ["class", "export class Value {", (line: number) => `  readonly value${line} = ${line}`]
  ])("rejects a %s of more than 150 lines, without blank lines and comments", (_, begin, lineOf) => {
    const definition = (count: number) =>
      [begin, "  // A comment.", "", ...Array.from({ length: count - 2 }, (_, index) => lineOf(index)), "}"].join("\n")
    assert.isFalse(refuses(core, definition(150)))
    assert.isTrue(refuses(core, definition(151)))
  })

  it("rejects an import cycle, unless only types are imported", () => {
    const files = {
      "packages/core/src/One.ts": 'import { two } from "./Two.ts"\nexport const one = (): number => two()\n',
      "packages/core/src/Two.ts": 'import { one } from "./One.ts"\nexport const two = (): number => one()\n',
      "packages/core/src/Three.ts":
        'import type { Four } from "./Four.ts"\nexport interface Three { readonly four: Four }\n',
      "packages/core/src/Four.ts":
        'import type { Three } from "./Three.ts"\nexport interface Four { readonly three: Three }\n'
    }
    for (const [path, code] of Object.entries(files)) {
      mkdirSync(join(folder, path, ".."), { recursive: true })
      writeFileSync(join(folder, path), code)
    }
    const { ok, output } = run("oxlint", ["--deny-warnings", ...Object.keys(files)], { cwd: folder })
    assert.isFalse(ok)
    assert.include(output, "no-cycle")
    assert.notInclude(output, "Three.ts")
  })
})
