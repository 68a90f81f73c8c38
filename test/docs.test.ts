import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
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

describe("the links of the pages", () => {
  const pages = files("*.md", "docs/**/*.md", "packages/*/*.md", "benchmarks/*.md", "examples/**/*.md").filter(
    ({ path }) => !/node_modules|CHANGELOG/.test(path)
  )

  /** The anchors of the headings of a page, as code hosts form them. */
  const anchorsOf = (text: string) =>
    new Set(
      [...text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
          .replaceAll(/\s/g, "-")
      )
    )

  it("lead to files and headings of the repository", () => {
    assert.isAbove(pages.length, 30)
    const texts = new Map(pages.map(({ path, text }) => [path, text]))
    const broken = pages.flatMap(({ path, text }) =>
      [...text.replaceAll(/^ *```[\s\S]*?^ *```$|(?<!\[)`[^`\n]*`/gm, "").matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target)
        .filter((target) => !/^(?:https?|mailto):/.test(target))
        .filter((target) => {
          const [file, anchor] = target.split("#")
          const to = file === "" ? path : join(dirname(path), file)
          const page = texts.get(to)
          if (!existsSync(join(root, to))) return true
          return anchor !== undefined && page !== undefined && !anchorsOf(page).has(anchor)
        })
        .map((target) => `${path}: ${target}`)
    )
    assert.deepStrictEqual(broken, [])
  })
})
