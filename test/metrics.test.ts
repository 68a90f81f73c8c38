import { assert, describe, it } from "vitest"
import { files } from "../scripts/internal/workspace.ts"

const metrics = files("packages/*/src/**/*.ts").flatMap(({ text }) =>
  [...text.matchAll(/\b(counter|gauge|histogram)\(\s*"(\w+)"/g)].map(([, kind, name]) => ({ kind, name }))
)

// `colloquy_timer` is a type of updates.
const documented = (pages: string) =>
  files(pages).flatMap(({ text }) => [...text.matchAll(/`(colloquy_(?!timer`)[a-z0-9_]+)`/g)].map(([, name]) => name))

const sorted = (names: Iterable<string>): ReadonlyArray<string> => [...new Set(names)].sort()

describe("The metrics of the packages", () => {
  it("are named by the conventions of Prometheus", () => {
    assert.isAbove(metrics.length, 10)
    for (const { kind, name } of metrics) {
      assert.match(name, /^colloquy_[a-z]+(_[a-z]+)+$/)
      assert.strictEqual(name.endsWith("_total"), kind === "counter", name)
      assert.notMatch(name, /_(ms|millis|count)$/)
      if (kind === "histogram") assert.match(name, /_seconds$/)
    }
  })

  it("are exactly the metrics in the documentation", () => {
    assert.deepStrictEqual(sorted(documented("docs/*.md")), sorted(metrics.map(({ name }) => name)))
  })
})
