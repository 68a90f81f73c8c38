import { defineConfig } from "vitest/config"
import { workspace } from "./vitest.workspace.ts"

/** The tests that start processes, in files `*.slow.test.ts`: `npm run test:slow`. */
export default defineConfig({
  ...workspace,
  test: {
    ...workspace.test,
    projects: workspace.test.projects.map(({ test }) => ({
      extends: true as const,
      test: {
        ...test,
        include: ["test/**/*.slow.test.ts"],
        exclude: ["**/node_modules/**"],
        // No test depends on how fast the machine is: the limit ends a test that hangs.
        testTimeout: 240_000,
        hookTimeout: 240_000
      }
    }))
  }
})
