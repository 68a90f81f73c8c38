import { Update } from "@colloquy/core"
import * as Endpoints from "@colloquy/core/Endpoints"
import * as OpenApi from "@colloquy/core/OpenApi"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

interface Described {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
}

const document = OpenApi.fromEndpoints(Endpoints.all)

const pointer = (...keys: ReadonlyArray<string>): string =>
  keys.map((key) => `/${encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("")

/** The statuses of each operation, with the place of its responses in the document. */
const operations = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, responses } = operation as Described
      const at = pointer("paths", path, method, "responses")
      return [operationId, { at, statuses: Object.keys(responses) }] as const
    })
  )
)

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ ...document, $id: "document" })

const validators = new Map<string, ValidateFunction>()

/** The validator of the schema at a place of the document. */
const validatorAt = (place: string): ValidateFunction => {
  const known = validators.get(place)
  if (known !== undefined) return known
  const made = ajv.compile({ $ref: `document#${place}` })
  validators.set(place, made)
  return made
}

export const validatorOf = (schema: string): ValidateFunction => validatorAt(pointer("components", "schemas", schema))

const decodeUpdate = Schema.decodeUnknownResult(Update.Update)

/** Without the updates that no decoder accepts: a test put them in as they are. */
const withoutMalformed = (body: unknown): unknown => {
  const { updates } = body as { readonly updates?: ReadonlyArray<unknown> }
  return updates === undefined
    ? body
    : { ...(body as object), updates: updates.filter((update) => Result.isSuccess(decodeUpdate(update))) }
}

/** Returns why a response is not what the OpenAPI document says, or `undefined`. */
export const problemOf = (endpoint: string, status: number, text: string): string | undefined => {
  const operation = operations.get(endpoint)
  if (operation === undefined) return `${endpoint} is not in the document`
  if (!operation.statuses.includes(String(status))) return `${endpoint} has no status ${status}`
  const validate = validatorAt(operation.at + pointer(String(status), "content", "application/json", "schema"))
  const body: unknown = JSON.parse(text)
  if (validate(endpoint === "Updates.list" ? withoutMalformed(body) : body)) return undefined
  return `${endpoint} ${status}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 500)}`
}
