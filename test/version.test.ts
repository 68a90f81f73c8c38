import { assert, describe, it } from "vitest"
import { files } from "../scripts/internal/workspace.ts"
import { current, withVersion } from "../scripts/version.ts"

describe("the version of the packages", () => {
  it("is the version that sources and pages state", () => {
    for (const { path, text } of withVersion(current())) {
      assert.deepStrictEqual(files(path), [{ path, text }], "run `node scripts/version.ts`")
    }
  })

  it("is stated in no other source, and a release changes all of them", () => {
    // `@since` is the version that added something, and the OpenAPI document has a version of its own.
    const version = new RegExp(`(?<!\\d\\.?)${current().replaceAll(".", "\\.")}(?!\\.?\\d)`)
    const states = (text: string) => version.test(text.replaceAll(/@since \S+/g, ""))
    const found = files("packages/*/src/**/*.ts", "docs/*.md", "README.md", "packages/*/README.md")
      .filter(({ path, text }) => path !== "packages/core/src/tools/OpenApi.ts" && states(text))
      .map(({ path }) => path)
    assert.sameMembers(
      found,
      withVersion("9.8.7").map(({ path }) => path)
    )
    for (const { path, text } of withVersion("9.8.7")) {
      assert.include(text, "9.8.7", path)
      assert.isFalse(states(text), path)
    }
  })
})
