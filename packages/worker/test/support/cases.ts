import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, it } from "vitest"
import { bundleWorker, serveWorker } from "../../../../benchmarks/src/workerd.ts"

/** What a case did: `problem` is missing if it passed. */
export interface Outcome {
  readonly problem?: string | undefined
}

/** Runs the cases of a suite in workerd, each in a Durable Object of its own with a clock of its own. */
export const runCases = (suite: string, cases: ReadonlyArray<{ readonly name: string }>): void => {
  const folder = mkdtempSync(join(tmpdir(), "suites-"))
  let worker: Awaited<ReturnType<typeof serveWorker>> | undefined

  beforeAll(async () => {
    const input = new URL("../fixtures/suites.ts", import.meta.url)
    await bundleWorker({ input, folder, conditions: ["source"], durableObject: "Suites" })
    worker = await serveWorker(folder, { BOT_TOKEN: "", BOT_BASE_URL: "", BOT_WEBHOOK_URL: "" })
  })

  afterAll(async () => {
    await worker?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const [index, { name }] of cases.entries()) {
    it(name, async () => {
      const response = await fetch(new URL(`/?suite=${suite}&index=${index}`, worker?.url))
      const text = await response.text()
      assert.strictEqual(response.status, 200, text)
      const { problem }: Outcome = JSON.parse(text)
      assert.isUndefined(problem, problem)
    })
  }
}
