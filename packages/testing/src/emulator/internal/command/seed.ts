import * as Json from "@colloquy/core/base/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as declarations from "../control/declarations.ts"
import { describe } from "../http/requestReader.ts"
import type { Listener, Request, Handler } from "../../EmulatorHttp.ts"
import { textBody } from "../http/wire.ts"
import { commandError, readFile } from "./files.ts"

/** Returns why a text is not a valid seed. Unknown fields are rejected, because they are probably misspelled. */
const validate = (text: string): string | undefined => {
  if (text.trim() === "") return "is empty; use {} for an empty seed"
  const parsed = Result.try(() => Json.parse(text))
  if (Result.isFailure(parsed)) return `is not JSON: ${String(parsed.failure).replaceAll(/\s+/g, " ")}`
  const schema = Schema.Struct(declarations.seed.declaration.body)
  const read = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(parsed.success)
  return Result.isFailure(read) ? describe(read.failure) : undefined
}

/** Creates the users, chats and messages of a seed file. */
export const loadSeed = Effect.fnUntraced(function* (
  path: string | undefined,
  handle: Handler,
  uploads: Listener["uploads"]
) {
  if (path === undefined) return
  const text = yield* readFile("--seed", path)
  const refused = validate(text)
  if (refused !== undefined) return yield* commandError(`--seed ${path}: ${refused}`)
  const request: Request = {
    method: declarations.seed.declaration.method,
    path: declarations.seed.declaration.path,
    query: "",
    headers: {},
    body: textBody(text),
    listener: { kind: "api", uploads }
  }
  const { body, status } = yield* Effect.orDie(handle(request))
  if (status !== 200) {
    const { message } = Json.parse(body) as { readonly message: string }
    return yield* commandError(`--seed ${path}: ${message}`)
  }
})
