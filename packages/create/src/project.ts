import * as Struct from "effect/Struct"
import { type Choices, type Manager, managers } from "./choices.ts"

/** The versions that a new project asks for. */
export const versions = {
  colloquy: "~0.0.0",
  effect: "~4.1.0",
  "@effect/platform-node": "~4.1.0",
  "@effect/sql-pg": "~4.0.5",
  "@effect/vitest": "~4.0.5",
  "@types/node": "^24.0.0",
  redis: "~6.3.1",
  rolldown: "~1.2.19",
  typescript: "~7.0.2",
  // Vitest accepts any Vite 8. This one has the Rolldown above, so there is one copy of it.
  vite: "~8.3.8",
  vitest: "^5.1.0"
} as const

const node = ">=22.19.0"

/** A file of a new project: a template, or a text. */
export type Content = { readonly template: string } | { readonly text: string }

const manifest = ({ name, store }: Choices, colloquy: (name: string) => string): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: "module",
      scripts: {
        start: "colloquy-emulator --lenient --limits 30,2,2,2 --bot src/bot.ts -- node --watch src/main.ts",
        // One file has the bot and its packages. A bot starts from the file several times as fast as from its sources.
        build:
          "rolldown src/main.ts --file dist/main.mjs --platform node --no-codeSplitting --no-comments.jsdoc --sourcemap",
        serve: "node dist/main.mjs",
        test: "tsc && vitest run"
      },
      dependencies: {
        "@colloquy/cli": colloquy("cli"),
        "@colloquy/core": colloquy("core"),
        "@colloquy/node": colloquy("node"),
        ...(store === "postgres" && Struct.pick(versions, ["@effect/platform-node", "@effect/sql-pg"])),
        effect: versions.effect,
        ...(store === "postgres" && { redis: versions.redis })
      },
      devDependencies: {
        "@colloquy/testing": colloquy("testing"),
        ...Struct.pick(versions, ["@effect/vitest", "@types/node", "rolldown", "typescript", "vite", "vitest"])
      },
      engines: { node },
      // npm checks the version before each script, because tools that need a newer Node end in stack traces.
      devEngines: { runtime: { name: "node", version: node, onFail: "error" } }
    },
    null,
    2
  )}\n`

/**
 * The files of a new project by path. `colloquy` returns the version or the address of a package of Colloquy.
 */
export const filesOf = (
  choices: Choices,
  colloquy: (name: string) => string = () => versions.colloquy
): Readonly<Record<string, Content>> => {
  const { source, store, template } = choices
  // With PostgreSQL, every bot can have tables.
  const hasTables = template === "stream" && store === "sqlite"
  return {
    "package.json": { text: manifest(choices, colloquy) },
    "tsconfig.json": { template: "files/tsconfig.json" },
    ".gitignore": { template: "files/gitignore" },
    "README.md": { template: "files/README.md" },
    "src/bot.ts": { template: `${template}/src/bot.ts` },
    ...(store === "postgres" && { "src/stores.ts": { template: "main/src/stores.ts" } }),
    "src/main.ts": { template: `main/src/${source}-${store}${hasTables ? "-stream" : ""}.ts` },
    "test/bot.test.ts": { template: `${template}/test/bot.test.ts` },
    ".github/workflows/test.yml": { template: "files/test.yml" },
    Dockerfile: { template: "files/Dockerfile" },
    "compose.yaml": { template: `files/compose.${store}.yaml` }
  }
}

/**
 * Fills in a template: `{{name}}` and the commands of the manager, and lines that are marked with `#webhook`, `#sqlite`,
 * `#pnpm` and so on, which only projects with this choice have.
 */
export const fill = (text: string, choices: Choices, manager: Manager): string => {
  const { name, source, store, template } = choices
  const commands = managers[manager]
  const values: Readonly<Record<string, string>> = { name, ...commands }
  return text
    .split("\n")
    .flatMap((line) => {
      const [, kept = line, mark] =
        /^(.*?) ?#(webhook|polling|sqlite|postgres|assistant|stream|pnpm|bun)$/.exec(line) ?? []
      return mark === undefined || [source, store, template, manager].some((choice) => choice === mark) ? [kept] : []
    })
    .join("\n")
    .replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? "")
}
