import { defineConfig } from "vitest/config"

const conditions = ["source"]

const project = (name: string, root: string) => ({
  extends: true as const,
  test: { name, root, include: ["test/**/*.test.ts"] }
})

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      project("core", "packages/core"),
      project("testing", "packages/testing"),
      project("node", "packages/node"),
      project("examples", "examples"),
      project("workspace", ".")
    ],
    coverage: { provider: "v8", include: ["packages/*/src/**/*.ts"], reporter: ["text-summary", "html"] }
  }
})
