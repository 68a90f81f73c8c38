import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { workspace } from "./vitest.workspace.ts"
import { included } from "./test/runtimes/tests.ts"

const setup = fileURLToPath(new URL("test/runtimes/setup.ts", import.meta.url))

/** The tests that run on the runtime that runs Vitest: `npm run test:bun`, `npm run test:deno`. */
export default defineConfig({
  ...workspace,
  test: {
    ...workspace.test,
    projects: Object.entries(included).map(([name, files]) => {
      const { setupFiles } = workspace.test.projects.find(({ test }) => test.name === name)!.test
      return {
        extends: true as const,
        test: {
          name,
          root: `packages/${name}`,
          include: files.map((file) => `test/${file}.test.ts`),
          exclude: ["**/node_modules/**", "**/*.types.test.ts"],
          setupFiles: [setup, ...setupFiles],
          testTimeout: 240_000,
          hookTimeout: 240_000
        }
      }
    })
  }
})
