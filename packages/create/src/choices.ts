import { fileURLToPath } from "node:url"

/** The bots, with a description each. */
export const templates = {
  echo: "repeats what people write",
  conversation: "asks questions, and keeps the answers over restarts",
  assistant: "answers with a language model, while it writes",
  stream: "writes messages into a table, each exactly once"
} as const

/** How updates arrive. */
export const sources = {
  polling: "long polling: for development, needs no public address",
  webhook: "webhook: for production, needs a public https:// address"
} as const

/** Where the inbox, the state and the timers are stored. */
export const stores = {
  sqlite: "a SQLite file: one machine",
  postgres: "PostgreSQL: several machines"
} as const

export type Template = keyof typeof templates
export type Source = keyof typeof sources
export type Store = keyof typeof stores

export interface Choices {
  readonly name: string
  readonly template: Template
  readonly source: Source
  readonly store: Store
}

/** The commands of a manager: `start` runs the scripts `start` and `test`, and `run` the others. */
const commandsOf = (start: string, run: string, install: string, frozen: string, container: string, lock: string) => ({
  start: `${start} start`,
  test: `${start} test`,
  serve: `${run} serve`,
  install,
  frozen,
  build: `${run} build`,
  container,
  lock
})

const pnpmCi = "pnpm install --frozen-lockfile"
const bunCi = "bun install --frozen-lockfile"

/** The programs that install packages. */
export const managers = {
  npm: commandsOf("npm", "npm run", "npm install", "npm ci", "npm ci", "package-lock.json"),
  pnpm: commandsOf("pnpm", "pnpm", "pnpm install", pnpmCi, `corepack enable && ${pnpmCi}`, "pnpm-lock.yaml"),
  bun: commandsOf("bun run", "bun run", "bun install", bunCi, `npm install --global bun && ${bunCi}`, "bun.lock")
}

export type Manager = keyof typeof managers

/** The manager that runs this command, by the variable that all of them set. */
export const managerOf = (userAgent: string | undefined): Manager => {
  const [name] = (userAgent ?? "").split("/")
  return name === "pnpm" || name === "bun" ? name : "npm"
}

/** The folder of the templates. */
export const templateFolder = fileURLToPath(new URL("../templates", import.meta.url))
