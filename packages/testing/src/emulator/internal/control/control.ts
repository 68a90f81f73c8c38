import * as Json from "@colloquy/core/base/Json"
import type * as Endpoint from "@colloquy/core/client/Endpoint"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { PersonError } from "../../Person.ts"
import { readText } from "../http/requestBody.ts"
import * as refusal from "../http/refusal.ts"
import * as requestReader from "../http/requestReader.ts"
import * as router from "../http/router.ts"
import { type Handler, type Request, respond, type Response } from "../../EmulatorHttp.ts"
import type { ControlCall, Handler as ControlHandler, Handlers } from "./call.ts"
import { clockHandlers } from "./clock.ts"
import * as declarations from "./declarations.ts"
import { developmentHandlers } from "./development.ts"
import { peopleHandlers } from "./people.ts"
import { platformHandlers } from "./platform.ts"
import { stateHandlers } from "./stateRoutes.ts"
import { seedHandlers } from "./seed.ts"
import type { EmulatorContext } from "../platform/context.ts"

const root = "/_emulator"

/** Whether a request is a call of the control API. */
export const isControl = ({ listener, path }: Request): boolean =>
  listener.kind === "api" && (path === root || path.startsWith(`${root}/`))

/** Maximum size of a request body, in bytes. */
export const maxBodySize = 16 * 2 ** 20

/** A list is accepted in place of a body with a single field. */
const unwrapList = (body: string, fields: ReadonlyArray<string>): string =>
  fields.length === 1 && body.trimStart().startsWith("[") ? `{${Json.stringify(fields[0])}:${body}}` : body

const toRefusal = ({ message }: PersonError) => refusal.of(400, "cannot.do", message)

const handlers: Handlers = {
  ...developmentHandlers,
  ...peopleHandlers,
  ...platformHandlers,
  ...clockHandlers,
  ...stateHandlers,
  ...seedHandlers
}

const calls = Object.entries(handlers).map(([name, handler]) => ({
  endpoint: declarations[name as keyof Handlers] as Endpoint.Any,
  handler: handler as ControlHandler<unknown, unknown>
}))

const makeHandler = ({ endpoint, handler }: (typeof calls)[number]) => {
  const { body: fields, success } = endpoint.declaration
  const read = requestReader.make(endpoint.declaration)
  const encode = Schema.encodeUnknownEffect(success)
  return (
    params: Readonly<Record<string, string>>,
    request: Request,
    control: EmulatorContext & Pick<ControlCall, "serve">
  ) =>
    Effect.gen(function* () {
      const keys = Object.keys(fields)
      const body = keys.length === 0 ? undefined : unwrapList(yield* readText(request, maxBodySize), keys)
      const decoded = read({ params, query: request.query, body })
      if (Result.isFailure(decoded)) return yield* refusal.invalidPayload(decoded.failure)
      const { listener, headers } = request
      const answer = yield* handler(decoded.success, { ...control, listener, headers })
      if (success === declarations.Whole) return answer as Response
      return respond(200, yield* Effect.orDie(encode(answer)))
    })
}

/** Handles the calls under `/_emulator`. */
export const makeControl = (
  context: EmulatorContext,
  serve: Handler
): ((request: Request) => Effect.Effect<Response>) => {
  const control = { ...context, serve }
  const find = router.make(calls.map(({ endpoint }) => endpoint))
  const handlers = new Map(calls.map((each) => [each.endpoint, makeHandler(each)]))

  const answer = (request: Request): Effect.Effect<Response, refusal.Refusal | PersonError> => {
    const match = find(request.method, request.path)
    return match._tag === "Found"
      ? handlers.get(match.endpoint)!(match.params, request, control)
      : router.unmatched(match, request)
  }

  return (request) => {
    control.state.fileOrigins.control = request.listener.uploads
    const answering = Effect.catchTag(answer(request), "PersonError", toRefusal)
    return refusal.toAnswer(request, answering, "A call of the control API failed")
  }
}
