import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { fences } from "../scripts/internal/fences.ts"
import { files, root, run } from "../scripts/internal/workspace.ts"

const examples = files("packages/*/src/**/*.ts", "packages/*/README.md", "README.md", "docs/*.md").flatMap(fences)

const settings = {
  extends: "../tsconfig.base.json",
  compilerOptions: {
    composite: false,
    incremental: false,
    noEmit: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
    types: ["node"]
  },
  include: ["*.ts"]
}

describe("the examples in the documentation", () => {
  let folder = ""

  beforeAll(() => {
    folder = mkdtempSync(join(root, ".fences-"))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings))
    examples.forEach(({ code }, at) => writeFileSync(join(folder, `fence${at}.ts`), code))
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("are found in sources and pages", () => {
    assert.isAbove(examples.length, 30)
  })

  it("all type-check", () => {
    const { ok, output } = run("tsc", ["-p", folder, "--pretty", "false"])
    const errors = output.split("\n").flatMap((line) => {
      const [, file, row, problem] = /^(.+?)\((\d+),\d+\): error (.+)$/.exec(line) ?? []
      const [, at] = /^fence(\d+)\.ts$/.exec(basename(file ?? "")) ?? []
      if (at === undefined) return line.includes("error TS") ? [line] : []
      const fence = examples[Number(at)]
      return [`${fence.file}:${fence.line + Number(row) - 1}: ${problem}`]
    })
    assert.deepStrictEqual(errors, [])
    assert.isTrue(ok, output)
  })
})
