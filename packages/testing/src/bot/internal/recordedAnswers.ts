import type { Call } from "@colloquy/core/inbox/UpdateLog"
import * as Effect from "effect/Effect"
import * as EmulatorHttp from "../../emulator/EmulatorHttp.ts"

type Answer = Effect.Effect<EmulatorHttp.Response, EmulatorHttp.ConnectionLost>

const toAnswer = ({ answer, status }: Call): Answer =>
  answer === undefined || status === undefined
    ? EmulatorHttp.connectionReset
    : Effect.succeed({ status, headers: { "content-type": "application/json" }, body: answer })

/**
 * Returns a function that answers requests by recorded calls. Each call answers one request: the first with the same method, path and query,
 * or else with the same method and path.
 */
export const recordedAnswers = (calls: ReadonlyArray<Call>) => {
  const left = calls.filter(({ request }) => request !== undefined)
  return ({ method, path, query }: EmulatorHttp.Request): Answer | undefined => {
    const same = left.filter(({ request }) => request?.method === method && request.path === path)
    const call = same.find(({ request }) => request?.query === query) ?? same[0]
    if (call === undefined) return undefined
    left.splice(left.indexOf(call), 1)
    return toAnswer(call)
  }
}
