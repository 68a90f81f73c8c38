import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { type Choices, managerOf, managers, sources, stores, templateFolder, templates } from "../src/choices.ts"
import { filesOf, fill, versions } from "../src/project.ts"

const keys = <K extends string>(record: Readonly<Record<K, unknown>>) => Object.keys(record) as Array<K>

export const combinations: ReadonlyArray<Choices> = keys(templates).flatMap((template) =>
  keys(sources).flatMap((source) => keys(stores).map((store) => ({ name: "my-bot", template, source, store })))
)

const contentOf = (choices: Choices, file: string): string => {
  const content = filesOf(choices)[file]!
  if ("text" in content) return content.text
  return fill(readFileSync(join(templateFolder, content.template), "utf8"), choices, "npm")
}

describe("A new project", () => {
  it("has at most eleven files, each of which exists", () => {
    assert.lengthOf(combinations, 16)
    for (const choices of combinations) {
      const contents = Object.values(filesOf(choices))
      assert.isAtMost(contents.length, 11)
      for (const content of contents) {
        if ("template" in content) assert.isTrue(existsSync(join(templateFolder, content.template)), content.template)
      }
    }
  })

  it("uses every template", () => {
    const used = new Set(
      combinations.flatMap((choices) =>
        Object.values(filesOf(choices)).flatMap((content) => ("template" in content ? [content.template] : []))
      )
    )
    const present = globSync("**/*.*", { cwd: templateFolder }).filter((file) => file !== "main/src/bot.ts")
    assert.deepStrictEqual(
      present.filter((file) => !used.has(file)),
      []
    )
  })

  it("contains no marks and no names in braces", () => {
    for (const choices of combinations) {
      for (const file of Object.keys(filesOf(choices))) {
        assert.notMatch(contentOf(choices, file), /\{\{|#(webhook|polling|sqlite|postgres|assistant|stream)/, file)
      }
    }
  })

  it("opens the port of the webhook, and asks for its URL, only with a webhook", () => {
    for (const choices of combinations) {
      const isWebhook = choices.source === "webhook"
      for (const file of ["compose.yaml", "README.md"]) {
        assert.strictEqual(contentOf(choices, file).includes("BOT_WEBHOOK_URL"), isWebhook, file)
      }
      assert.strictEqual(contentOf(choices, "Dockerfile").includes("EXPOSE"), isWebhook)
      assert.strictEqual(contentOf(choices, "compose.yaml").includes("postgres:18"), choices.store === "postgres")
    }
  })

  it("shares the rate limits of its processes in Redis with PostgreSQL", () => {
    for (const choices of combinations) {
      const isShared = choices.store === "postgres"
      assert.strictEqual(contentOf(choices, "compose.yaml").includes("REDIS_URL: redis://limits"), isShared)
      if (!isShared) continue
      assert.include(contentOf(choices, "src/main.ts"), "NodeBot.layerClientConfig().pipe(Layer.provideMerge(limiter))")
      assert.include(contentOf(choices, "src/stores.ts"), "RedisRateLimiterStore.layer()")
    }
  })

  it("has the command of the operator, and a function for updates that were not handled", () => {
    for (const choices of combinations) {
      assert.include(contentOf(choices, "package.json"), '"@colloquy/cli"')
      assert.include(contentOf(choices, "src/bot.ts"), "onDeadLetter:")
    }
  })

  it("asks for the versions that this repository is tested with", () => {
    const manifests = ["../../../package.json", "../../node/package.json", "../package.json"].map(
      (file) =>
        JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8")) as Record<string, Record<string, string>>
    )
    const [workspace, node, own] = manifests
    const tested = { ...node!["devDependencies"], ...own!["devDependencies"], ...workspace!["devDependencies"] }
    const { "@types/node": types, colloquy, ...exact } = versions
    for (const [name, version] of Object.entries(exact)) assert.strictEqual(version, tested[name], name)
    assert.strictEqual(types.split(".")[0], tested["@types/node"]?.split(".")[0])
    assert.strictEqual(colloquy, `~${own!["version"]}`)
  })
})

describe("managerOf", () => {
  it("recognizes the program that runs the command", () => {
    assert.strictEqual(managerOf("pnpm/10.0.0 npm/? node/v24.0.0 linux x64"), "pnpm")
    assert.strictEqual(managerOf("bun/1.3.0 npm/? node/v24.0.0 linux x64"), "bun")
    assert.strictEqual(managerOf("npm/11.0.0 node/v24.0.0 linux x64 workspaces/false"), "npm")
    assert.strictEqual(managerOf(undefined), "npm")
  })

  it("has the commands of each", () => {
    const choices = combinations[0]!
    for (const manager of keys(managers)) {
      const content = filesOf(choices)["Dockerfile"]!
      assert.isTrue("template" in content)
      const text = fill(readFileSync(join(templateFolder, "files/Dockerfile"), "utf8"), choices, manager)
      assert.include(text, `COPY package.json ${managers[manager].lock} ./`)
      assert.include(text, `RUN ${managers[manager].container}\n`)
      assert.include(text, `RUN ${managers[manager].build}\n`)
      const workflow = fill(readFileSync(join(templateFolder, "files/test.yml"), "utf8"), choices, manager)
      const { frozen, test } = managers[manager]
      assert.deepStrictEqual(
        [...workflow.matchAll(/^ +- run: "?(.*?)"?$/gm)].map(([, command]) => command),
        // npm comes with Node.
        [...(manager === "npm" ? [] : [`npm install --global ${manager}`]), frozen, test]
      )
    }
  })
})
