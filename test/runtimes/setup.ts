import { assert, beforeAll, beforeEach } from "vitest"
import { reasonToSkip, runtimeOf } from "./tests.ts"

const runtime = runtimeOf(process.versions)

beforeAll(() => {
  assert.strictEqual(runtime, process.env["TEST_RUNTIME"], "the worker of Vitest does not run on the expected runtime")
})

beforeEach(({ skip, task }) => {
  const reason = reasonToSkip(runtime, task.file.filepath, task.name, task.suite?.name)
  if (reason !== undefined) skip(reason)
})
