import * as Json from "@colloquy/core/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as declarations from "../control/declarations.ts"
import { describe } from "../http/requestReader.ts"
import type { Listener, Request, Handler } from "../../EmulatorHttp.ts"
import { ofText } from "./bodies.ts"
import { readFile } from "./files.ts"
import { type CommandProblem, problem } from "./problem.ts"

/** Why a text is no seed. A field that none has is a misspelt one, whose part of the world would be missing. */
const problemOf = (text: string): string | undefined => {
  if (text.trim() === "") return "is empty; {} is a world without anybody"
  const parsed = Result.try(() => Json.parse(text))
  if (Result.isFailure(parsed)) return `is not JSON: ${String(parsed.failure).replaceAll(/\s+/g, " ")}`
  const schema = Schema.Struct(declarations.seed.declaration.body)
  const read = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(parsed.success)
  return Result.isFailure(read) ? describe(read.failure) : undefined
}

/** Makes the world of a file, if there is one. */
export const plant = (
  path: string | undefined,
  handle: Handler,
  uploads: Listener["uploads"]
): Effect.Effect<void, CommandProblem> =>
  Effect.gen(function* () {
    if (path === undefined) return
    const text = yield* readFile("--seed", path)
    const refused = problemOf(text)
    if (refused !== undefined) return yield* problem(`--seed ${path}: ${refused}`)
    const request: Request = {
      method: declarations.seed.declaration.method,
      path: declarations.seed.declaration.path,
      query: "",
      headers: {},
      body: ofText(text),
      listener: { kind: "api", uploads }
    }
    const { body, status } = yield* Effect.orDie(handle(request))
    if (status !== 200) {
      const { message } = Json.parse(body) as { readonly message: string }
      return yield* problem(`--seed ${path}: ${message}`)
    }
  })
