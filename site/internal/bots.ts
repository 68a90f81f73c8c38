import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Choices } from "../../packages/create/src/choices.ts"
import { filesOf, fill } from "../../packages/create/src/project.ts"
import { root } from "../../scripts/internal/workspace.ts"

/** A bot of the examples that runs in the page. */
export interface Bot {
  readonly name: string
  readonly title: string
  readonly code: string
}

/** Removes the imported names that the rest of the module does not use. */
const withoutUnusedImports = (code: string): string => {
  const imports = /^import \{([^}]*)\} from "([^"]+)"\n/gm
  const rest = code.replaceAll(imports, "")
  return code.replaceAll(imports, (_, list: string, from: string) => {
    const names = list
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && new RegExp(`\\b${name.replace(/^type /, "")}\\b`).test(rest))
    return names.length === 0 ? "" : `import { ${names.join(", ")} } from "${from}"\n`
  })
}

/** The part of an example that defines its bot. The part that connects it to the platform needs Node. */
export const botOf = (source: string): string => {
  const [definition, main] = source.split(/^if \(import\.meta\.main\) \{$/m) as [string, string?]
  if (main === undefined) throw new Error("The example has no `if (import.meta.main)`")
  return `${withoutUnusedImports(definition).trim()}\n`
}

const read = (path: string): string => readFileSync(join(root, path), "utf8")

const example = (name: string, title: string): Bot => ({ name, title, code: botOf(read(`examples/src/${name}.ts`)) })

const recipe = (name: string, title: string): Bot => ({ name, title, code: read(`examples/src/recipes/${name}.ts`) })

const small = (name: string, title: string): Bot => ({ name, title, code: read(`site/bots/${name}.ts`) })

/** The bots that need no service besides the platform. */
export const bots = (): ReadonlyArray<Bot> => [
  example("echo", "Echo, with a button"),
  small("counter", "State: counting messages"),
  small("menu", "A menu of settings"),
  example("quiz", "A scene: a quiz in a group"),
  recipe("firstMessage", "A timer: greeting once"),
  recipe("longTexts", "Long texts in parts"),
  small("stream", "A stream: batches beside answers"),
  small("errors", "An error that is handled")
]

const choices: Choices = { name: "my-bot", template: "echo", source: "polling", store: "sqlite" }

/** The files of a new project, without its bot and the test of this bot. */
export const project = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(filesOf(choices)).flatMap(([path, content]) => {
      if (path === "src/bot.ts" || path.startsWith("test/")) return []
      const text =
        "text" in content ? content.text : fill(read(`packages/create/templates/${content.template}`), choices, "npm")
      // The project has no test yet.
      return [[path, path === "package.json" ? text.replace("vitest run", "vitest run --passWithNoTests") : text]]
    })
  )
