import * as Json from "@colloquy/core/Json"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { PersonError } from "../../Person.ts"
import { readText } from "../http/requestBody.ts"
import * as refusal from "../http/refusal.ts"
import * as requestReader from "../http/requestReader.ts"
import * as router from "../http/router.ts"
import { toResponse } from "../http/shape.ts"
import { type Request, respond, type Response } from "../../EmulatorHttp.ts"
import { allow, asHead } from "../http/wire.ts"
import type { Handled } from "./call.ts"
import { people } from "./people.ts"
import { platform } from "./platform.ts"
import { seeding } from "./seed.ts"
import type { EmulatorContext } from "../platform/context.ts"

const root = "/_emulator"

/** Whether a request is to the emulator itself and not to the platform. */
export const isControl = ({ listener, path }: Request): boolean =>
  listener.kind === "api" && (path === root || path.startsWith(`${root}/`))

/** How many bytes of a body are read. */
export const maxBody = 16 * 2 ** 20

/** A list stands for the only field that the body can have. */
const unwrapList = (body: string, fields: ReadonlyArray<string>): string =>
  fields.length === 1 && body.trimStart().startsWith("[") ? `{${Json.stringify(fields[0])}:${body}}` : body

const cannot = ({ message }: PersonError) => new refusal.Refusal({ status: 400, body: { code: "cannot.do", message } })

const makeAnswerer = ({ endpoint, handler }: Handled) => {
  const { body: fields, success } = endpoint.declaration
  const read = requestReader.make(endpoint.declaration)
  const encode = Schema.encodeUnknownEffect(success)
  return (params: Readonly<Record<string, string>>, request: Request, control: EmulatorContext) =>
    Effect.gen(function* () {
      const keys = Object.keys(fields)
      const body = keys.length === 0 ? undefined : unwrapList(yield* readText(request, maxBody), keys)
      const given = read({ params, query: request.query, body })
      if (Result.isFailure(given)) return yield* refusal.invalidPayload(given.failure)
      const { listener, headers } = request
      const answer = yield* handler(given.success as never, { ...control, listener, host: headers["host"] })
      return respond(200, yield* Effect.orDie(encode(answer)))
    })
}

/** Answers the calls under `/_emulator`, by which bots in any language set a stage and act on it. */
export const controlling = (control: EmulatorContext): ((request: Request) => Effect.Effect<Response>) => {
  const handled = [...people, ...platform, ...seeding]
  const find = router.make(handled.map(({ endpoint }) => endpoint))
  const answerers = new Map(handled.map((each) => [each.endpoint, makeAnswerer(each)]))

  const answer = (request: Request): Effect.Effect<Response, refusal.Refusal | PersonError> => {
    const { method, path } = request
    const match = find(method, path)
    if (match._tag === "NotFound") return refusal.notFound(`Path ${path}`)
    if (match._tag === "Found") return answerers.get(match.endpoint)!(match.params, request, control)
    return method === "OPTIONS"
      ? Effect.succeed(allow(match.allowed))
      : refusal.methodNotAllowed(`${method} ${path} is not allowed`, match.allowed)
  }

  return (request) => {
    control.state.imageOrigins.control = request.listener.uploads.image
    return answer(request).pipe(
      Effect.catchTag("PersonError", cannot),
      Effect.catchTag("Refusal", (refusal) => Effect.succeed(toResponse(refusal))),
      Effect.catchDefect((defect) =>
        Effect.as(
          Effect.logError("The emulator could not answer a call to itself", defect),
          toResponse(refusal.internalError())
        )
      ),
      request.method === "HEAD" ? Effect.map(asHead) : identity
    )
  }
}
