import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { workspace } from "./vitest.workspace.ts"
import { runtimeOf, skippedFiles } from "./test/runtimes/skipped.ts"

const setup = fileURLToPath(new URL("test/runtimes/setup.ts", import.meta.url))

const runtime = runtimeOf(process.versions)

/** The suites of core, testing and node on the runtime that runs Vitest: `npm run test:bun`, `npm run test:deno`. */
export default defineConfig({
  ...workspace,
  test: {
    ...workspace.test,
    projects: workspace.test.projects
      .filter(({ test: { name } }) => ["core", "testing", "node"].includes(name))
      .map(({ test }) => ({
        extends: true as const,
        test: { ...test, exclude: [...skippedFiles(runtime, test.name)], setupFiles: [setup, ...test.setupFiles] }
      }))
  }
})
