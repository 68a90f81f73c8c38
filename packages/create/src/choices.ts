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

/** The programs that install packages. */
export const managers = {
  npm: {
    start: "npm start",
    test: "npm test",
    serve: "npm run serve",
    install: "npm install",
    frozen: "npm ci",
    build: "npm run build",
    container: "npm ci",
    lock: "package-lock.json"
  },
  pnpm: {
    start: "pnpm start",
    test: "pnpm test",
    serve: "pnpm serve",
    install: "pnpm install",
    frozen: "pnpm install --frozen-lockfile",
    build: "pnpm build",
    container: "corepack enable && pnpm install --frozen-lockfile",
    lock: "pnpm-lock.yaml"
  },
  bun: {
    start: "bun run start",
    test: "bun run test",
    serve: "bun run serve",
    install: "bun install",
    frozen: "bun install --frozen-lockfile",
    build: "bun run build",
    container: "npm install --global bun && bun install --frozen-lockfile",
    lock: "bun.lock"
  }
} as const

export type Manager = keyof typeof managers

/** The manager that runs this command, by the variable that all of them set. */
export const managerOf = (userAgent: string | undefined): Manager => {
  const [name] = (userAgent ?? "").split("/")
  return name === "pnpm" || name === "bun" ? name : "npm"
}

/** The folder of the templates. */
export const templateFolder = fileURLToPath(new URL("../templates", import.meta.url))
