import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const conditions = ["source"]

const validatesAnswers = fileURLToPath(new URL("packages/testing/test/support/validateAnswers.ts", import.meta.url))

const project = (name: string, root: string, setupFiles: ReadonlyArray<string> = []) => ({
  extends: true as const,
  test: {
    name,
    root,
    include: ["test/**/*.test.ts", "templates/*/test/*.test.ts"],
    exclude: ["**/node_modules/**", "test/**/*.slow.test.ts"],
    setupFiles: [...setupFiles],
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})

/** The configuration that `vitest.slow.ts` and `vitest.runtimes.ts` extend. */
export const workspace = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: fileURLToPath(new URL("scripts/page.ts", import.meta.url)),
    // The default leaves one core to Vitest itself, which needs little of it.
    maxWorkers: "100%",
    projects: [
      project("core", "packages/core", [validatesAnswers]),
      project("testing", "packages/testing", [validatesAnswers]),
      project("node", "packages/node", [validatesAnswers]),
      project("worker", "packages/worker"),
      project("create", "packages/create"),
      project("cli", "packages/cli"),
      project("examples", "examples", [validatesAnswers]),
      project("workspace", ".")
    ],
    coverage: { provider: "v8" as const, include: ["packages/*/src/**/*.ts"], reporter: ["text-summary", "html"] }
  }
}

/** The quick tests: `npm test`. */
export default defineConfig(workspace)
