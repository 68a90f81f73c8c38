import { readFileSync } from "node:fs"
import { join } from "node:path"
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

const bot = (name: string, title: string): Bot => ({
  name,
  title,
  code: botOf(readFileSync(join(root, `examples/src/${name}.ts`), "utf8"))
})

/** The examples that need no service besides the platform. */
export const bots = (): ReadonlyArray<Bot> => [bot("echo", "Echo"), bot("pizza", "A conversation: ordering a pizza")]
