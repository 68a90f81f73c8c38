import { assert, describe, it } from "vitest"
import { files } from "../scripts/internal/workspace.ts"

const domains = [
  "assistant",
  "broadcast",
  "chats",
  "client",
  "codec",
  "command",
  "control",
  "conversation",
  "endpoints",
  "handlers",
  "http",
  "journal",
  "liveMessage",
  "mcp",
  "menu",
  "openapi",
  "people",
  "platform",
  "rateLimiter",
  "scene",
  "sqlite",
  "state",
  "stores",
  "text",
  "timers",
  "ui",
  "updates",
  "upload",
  "webhook"
]

describe("the layout of the code", () => {
  const internal = files("packages/*/src/internal/**/*.ts").map(({ path }) => path)

  it("keeps every internal file in the folder of a domain", () => {
    assert.deepStrictEqual(
      internal.filter((path) => !domains.includes(path.split("/")[4]) || path.split("/").length < 6),
      []
    )
  })

  it("has every test in the folder or under the name of the code that it tests", () => {
    const modules = new Set(
      files("packages/*/src/**/*.ts").map(({ path }) => path.replace(/^packages\/\w+\/src\/(?:internal\/)?|\.ts$/g, ""))
    )
    const folders = new Set([...domains, "fidelity", "support", "fixtures"])
    const stray = files("packages/*/test/**/*.test.ts")
      .map(({ path }) => path)
      .filter((path) => {
        const name = path.replace(/^packages\/\w+\/test\/|(?:\.\w+)?\.test\.ts$/g, "")
        return !modules.has(name) && !folders.has(name.split("/")[0])
      })
    assert.deepStrictEqual(stray, [])
  })

  it("has one file with the tests of a public module", () => {
    const modules = files("packages/*/test/*.test.ts").map(({ path }) => path.replace(/^.*\//, ""))
    assert.deepStrictEqual(
      modules.filter((name, index) => modules.indexOf(name) !== index),
      []
    )
  })

  it("lists only existing files in docs/architecture.md", () => {
    const [page] = files("docs/architecture.md")
    const paths = [...page.text.matchAll(/`((?:packages|scripts|examples|benchmarks|docs)\/[\w./]+\.(?:ts|md))`/g)].map(
      ([, path]) => path
    )
    const existing = new Set(files("{packages,scripts,examples,benchmarks,docs}/**/*.{ts,md}").map(({ path }) => path))
    assert.deepStrictEqual(
      paths.filter((path) => !existing.has(path) && !path.includes("NAME")),
      []
    )
  })
})
