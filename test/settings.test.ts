import { assert, describe, it } from "vitest"
import { files } from "../scripts/internal/workspace.ts"

const namesIn = (text: string): ReadonlyArray<string> => [...text.matchAll(/\bBOT_[A-Z_]*[A-Z]/g)].map(([name]) => name)

const sorted = (names: Iterable<string>): ReadonlyArray<string> => [...new Set(names)].sort()

describe("docs/settings.md", () => {
  it("lists exactly the settings that the packages read", () => {
    const [page] = files("docs/settings.md")
    const read = files("packages/{core,node}/src/**/*.ts").flatMap(({ text }) =>
      namesIn(text.replaceAll(/^\s*\/?\*.*$/gm, ""))
    )
    assert.deepStrictEqual(sorted(namesIn(page.text.replaceAll("`BOT_*`", ""))), sorted(read))
  })
})

describe("layerConfig", () => {
  it("fails with InvalidSettings in every module, because only Settings.unwrap reads options", () => {
    const others = files("packages/*/src/**/*.ts").filter(
      ({ path, text }) => /Config\.unwrap\(|Config\.ConfigError>/.test(text) && !path.endsWith("/client/Settings.ts")
    )
    assert.deepStrictEqual(
      others.map(({ path }) => path),
      []
    )
  })
})
