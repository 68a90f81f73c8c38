import { assert, describe, it } from "@effect/vitest"
import { hashOf, problemOf, untranslated } from "../scripts/internal/translations.ts"

const original = { path: "docs/page.md", text: "# Page\n\n```sh\nnpm start\n```\n" }

const translationOf = (hash: string, code = "npm start") => ({
  path: "docs/ru/page.md",
  text: `---\noriginal: docs/page.md\nhash: ${hash}\n---\n\n# Страница\n\n\`\`\`sh\n${code}\n\`\`\`\n`
})

describe("a translated page", () => {
  it("has no problem if it was made from its original as the original is now", () => {
    assert.isUndefined(problemOf(translationOf(hashOf(original.text)), [original]))
  })

  it("is older than an original that was changed, and the problem has the new hash", () => {
    const changed = { ...original, text: `${original.text}More.\n` }
    assert.strictEqual(
      problemOf(translationOf(hashOf(original.text)), [changed]),
      `docs/ru/page.md is older than docs/page.md: translate what has changed, and set hash: ${hashOf(changed.text)}`
    )
  })

  it("exists for each page of the sections Start and Write a bot", () => {
    const contents = `# Pages

## Start

| page | contents |
|---|---|
| [The README](../README.md) | a first bot |
| [examples](../examples/src) | programs |

## Write a bot

| [Handlers](handlers.md) | commands |
| [State](state.md) | values |

## Reference

| [Errors](errors.md) | errors |
`
    assert.deepStrictEqual(untranslated(contents, ["README.md", "docs/state.md"]), [
      "docs/handlers.md has no translation in docs/ru"
    ])
  })

  it("has the code of its original, and names an original that exists", () => {
    assert.include(problemOf(translationOf(hashOf(original.text), "npm run"), [original]), "has other code")
    assert.include(problemOf(translationOf(hashOf(original.text)), []), "does not name its original")
  })
})
