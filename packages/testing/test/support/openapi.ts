import { Update } from "@colloquy/core"
import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import * as OpenApi from "@colloquy/core/tools/OpenApi"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
}

const document = OpenApi.fromEndpoints(Endpoints.all)

const pointer = (...keys: ReadonlyArray<string>): string =>
  keys.map((key) => `/${encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("")

/** The statuses of each operation, and the JSON pointer to its responses in the document. */
const operations = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, responses } = operation as Operation
      const at = pointer("paths", path, method, "responses")
      return [operationId, { at, statuses: Object.keys(responses) }] as const
    })
  )
)

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ ...document, $id: "document" })

const validators = new Map<string, ValidateFunction>()

/** Returns the validator of the schema at a JSON pointer of the document. */
const validatorAt = (path: string): ValidateFunction => {
  const cached = validators.get(path)
  if (cached !== undefined) return cached
  const compiled = ajv.compile({ $ref: `document#${path}` })
  validators.set(path, compiled)
  return compiled
}

export const validatorOf = (schema: string): ValidateFunction => validatorAt(pointer("components", "schemas", schema))

const decodeUpdate = Schema.decodeUnknownResult(Update.Update)

/** Removes the updates that cannot be decoded: a test has put them into the emulator as raw JSON. */
const withoutMalformed = (body: unknown): unknown => {
  const { updates } = body as { readonly updates?: ReadonlyArray<unknown> }
  return updates === undefined
    ? body
    : { ...(body as object), updates: updates.filter((update) => Result.isSuccess(decodeUpdate(update))) }
}

/** Returns the reason why a response does not conform to the OpenAPI document, or `undefined`. */
export const problemOf = (endpoint: string, status: number, text: string): string | undefined => {
  const operation = operations.get(endpoint)
  if (operation === undefined) return `${endpoint} is not in the document`
  if (!operation.statuses.includes(String(status))) return `${endpoint} has no status ${status}`
  const validate = validatorAt(operation.at + pointer(String(status), "content", "application/json", "schema"))
  const body: unknown = JSON.parse(text)
  if (validate(endpoint === "Updates.list" ? withoutMalformed(body) : body)) return undefined
  return `${endpoint} ${status}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 500)}`
}
