import { assert, describe, it } from "vitest"
import { files } from "../scripts/internal/workspace.ts"
import { current, withVersion } from "../scripts/version.ts"

const places = (version: string) => withVersion(version).map(({ path }) => path)

describe("the version of the packages", () => {
  it("is the one that sources and pages state", () => {
    for (const { path, text } of withVersion(current())) {
      assert.deepStrictEqual(files(path), [{ path, text }], "run `node scripts/version.ts`")
    }
  })

  it("is stated in no other source, and a release changes all of them", () => {
    // `@since` is the version that added something, and the OpenAPI document has a version of its own.
    const states = (text: string) => text.replaceAll(/@since \S+/g, "").includes(current())
    const found = files("packages/*/src/**/*.ts", "docs/*.md", "README.md", "packages/*/README.md")
      .filter(({ path, text }) => path !== "packages/core/src/OpenApi.ts" && states(text))
      .map(({ path }) => path)
    assert.sameMembers(
      found.filter((path) => path !== "docs/versions.md"),
      places("9.8.7").filter((path) => path !== "docs/versions.md")
    )
    for (const { path, text } of withVersion("9.8.7")) {
      assert.include(text, "9.8.7", path)
      if (path !== "docs/versions.md") assert.isFalse(states(text), path)
    }
  })
})
