import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const conditions = ["source"]

const validatesAnswers = fileURLToPath(new URL("packages/testing/test/support/validateAnswers.ts", import.meta.url))

/** The tests of a folder. `npm test` runs the project `name`, and `npm run test:all` also `name:slow`. */
const projects = (name: string, root: string, setupFiles: ReadonlyArray<string> = []) => [
  {
    extends: true as const,
    test: {
      name,
      root,
      include: ["test/**/*.test.ts", "templates/*/test/*.test.ts"],
      exclude: ["**/node_modules/**", "test/**/*.slow.test.ts"],
      setupFiles: [...setupFiles],
      testTimeout: 30_000,
      hookTimeout: 30_000
    }
  },
  {
    extends: true as const,
    test: {
      name: `${name}:slow`,
      root,
      include: ["test/**/*.slow.test.ts"],
      setupFiles: [...setupFiles],
      // These tests start processes. No test depends on how fast the machine is: the limit ends a test that hangs.
      testTimeout: 240_000,
      hookTimeout: 240_000
    }
  }
]

/** The configuration that `vitest.runtimes.ts` extends. */
export const workspace = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: fileURLToPath(new URL("scripts/page.ts", import.meta.url)),
    // The default leaves one core to Vitest itself, which needs little of it.
    maxWorkers: "100%",
    projects: [
      ...projects("core", "packages/core", [validatesAnswers]),
      ...projects("testing", "packages/testing", [validatesAnswers]),
      ...projects("node", "packages/node", [validatesAnswers]),
      ...projects("worker", "packages/worker"),
      ...projects("create", "packages/create"),
      ...projects("cli", "packages/cli"),
      ...projects("examples", "examples", [validatesAnswers]),
      ...projects("workspace", ".")
    ],
    coverage: { provider: "v8" as const, include: ["packages/*/src/**/*.ts"], reporter: ["text-summary", "html"] }
  }
}

export default defineConfig(workspace)
