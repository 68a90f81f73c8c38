import { assert, describe, it } from "vitest"
import { files } from "../scripts/internal/workspace.ts"

const [page] = files("docs/delivery.md")
const tests = files("packages/*/test/**/*.test.ts").map(({ text }) => text)

const contract = page.text.split("## The contract")[1].split("## ")[0]
const sentences = [...contract.matchAll(/^- (.+)$/gm)].map(([, sentence]) => sentence)

describe("the delivery contract", () => {
  it("is stated", () => {
    assert.isAbove(sentences.length, 10)
  })

  it.each(sentences)("has a test of this name: %s", (sentence) => {
    assert.isTrue(tests.some((text) => text.includes(`("${sentence}"`) || text.includes(`"${sentence}",`)))
  })
})
