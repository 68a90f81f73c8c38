import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const conditions = ["source"]

const validatesAnswers = fileURLToPath(new URL("packages/testing/test/support/validateAnswers.ts", import.meta.url))

const project = (name: string, root: string, setupFiles: ReadonlyArray<string> = []) => ({
  extends: true as const,
  test: { name, root, include: ["test/**/*.test.ts", "templates/*/test/*.test.ts"], setupFiles: [...setupFiles] }
})

/** The configuration that `vitest.runtimes.ts` extends. */
export const workspace = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: fileURLToPath(new URL("scripts/page.ts", import.meta.url)),
    // No test depends on how fast the machine is: this only ends a test that hangs.
    testTimeout: 240_000,
    hookTimeout: 240_000,
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

export default defineConfig(workspace)
