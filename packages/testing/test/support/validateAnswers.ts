import * as Effect from "effect/Effect"
import { afterEach, assert, vi } from "vitest"
import type * as FaultInjection from "../../src/emulator/internal/http/faultInjection.ts"

interface Answer {
  readonly endpoint: string
  readonly status: number
  readonly body: string
}

/** The answers of the emulators of the test that runs. */
export const answers = new Map<string, Answer>()

// Records the responses of the emulator before faults and interceptors change them.
vi.mock("../../src/emulator/internal/http/faultInjection.ts", async (load) => {
  const original = (await load()) as typeof FaultInjection
  return {
    ...original,
    withFaults: ((state, request, target, next) =>
      original.withFaults(
        state,
        request,
        target,
        Effect.tap(next, ({ body, status }) =>
          Effect.sync(() => {
            const { endpoint } = target
            if (endpoint === undefined || request.method === "HEAD") return
            answers.set(`${endpoint} ${status} ${body}`, { endpoint, status, body })
          })
        )
      )) satisfies typeof original.withFaults
  }
})

/** Asserts that every response of the emulator in any test conforms to the OpenAPI document. */
afterEach(async () => {
  if (answers.size === 0) return
  const { problemOf } = await import("./openapi.ts")
  const problems = [...answers.values()].flatMap(
    ({ body, endpoint, status }) => problemOf(endpoint, status, body) ?? []
  )
  answers.clear()
  assert.deepStrictEqual(problems, [])
})
