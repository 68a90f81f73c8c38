/**
 * An OpenAPI 3.1 document, read from the declarations of the endpoints: for clients in other languages, for mock servers
 * and for whoever wants to look the platform up in a viewer.
 *
 * @since 0.1.0
 */
import * as ApiError from "@colloquy/core/ApiError"
import type * as Endpoint from "@colloquy/core/Endpoint"
import { Update } from "@colloquy/core/Update"
import * as Schema from "effect/Schema"
import { type JsonSchema, make } from "./internal/openapi/jsonSchema.ts"
import { names } from "./internal/openapi/names.ts"

/**
 * An OpenAPI 3.1 document as plain JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface OpenApi {
  readonly openapi: "3.1.0"
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly tags: ReadonlyArray<{ readonly name: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly webhooks: Readonly<Record<string, unknown>>
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>
    readonly securitySchemes: Readonly<Record<string, unknown>>
  }
}

/**
 * Where the API stands, and what the document is called.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly url?: string | undefined
  readonly title?: string | undefined
}

const json = (schema: JsonSchema) => ({ "application/json": { schema } })

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const Problem: JsonSchema = {
  type: "object",
  description: 'The platform\'s "no".',
  properties: { code: { type: "string" }, message: { type: "string" }, error: { type: "string" } },
  required: ["code", "message"]
}

const failedUsers: JsonSchema = {
  type: "object",
  properties: {
    error_code: { type: "string", examples: ApiError.AddParticipantFailed.rule.codes },
    user_ids: { type: "array", items: { type: "integer", format: "int64" } }
  },
  required: ["error_code", "user_ids"]
}

const Rejection: JsonSchema = {
  type: "object",
  description: "It was not carried out, although the status is 200.",
  properties: {
    success: { type: "boolean", const: false },
    message: { type: "string" },
    failed_user_ids: { type: "array", items: { type: "integer", format: "int64" } },
    failed_user_details: { type: "array", items: failedUsers }
  },
  required: ["success"]
}

type AnyError = ApiError.Recognised<unknown>

const common: ReadonlyArray<AnyError> = [ApiError.Unauthorized, ApiError.RateLimited]

/** Told by a body whatever the status is, which then is 200; told by a code without a status, which has been seen with 400. */
const statusOf = ({ rule }: AnyError): number => rule.status ?? (rule.matches === undefined ? 400 : 200)

const problem = (errors: ReadonlyArray<AnyError>, codes: ReadonlyArray<string>, description: string) => {
  const all = [...codes, ...errors.flatMap(({ rule }) => rule.codes)]
  const what = [...errors.map(({ name }) => name), description].filter((part) => part !== "").join(", ")
  return {
    description: all.length === 0 ? what : `${what}: ${all.join(", ")}`,
    content: json(
      all.length === 0
        ? ref("Problem")
        : { allOf: [ref("Problem"), { type: "object", properties: { code: { type: "string", examples: all } } }] }
    )
  }
}

const answersOf = ({ errors }: Endpoint.Any["declaration"], described: JsonSchema) => {
  const byStatus = new Map<number, Array<AnyError>>()
  for (const error of [...common, ...(errors as ReadonlyArray<AnyError>)]) {
    const status = statusOf(error)
    byStatus.set(status, [...(byStatus.get(status) ?? []), error])
  }
  const mayReject = byStatus.has(200)
  byStatus.delete(200)
  const bad = byStatus.get(400) ?? []
  byStatus.delete(400)
  const answers: Record<string, unknown> = {
    200: {
      description: mayReject ? "It was carried out, or `success` is false." : "It was carried out.",
      content: json(mayReject ? { anyOf: [described, ref("Rejection")] } : described)
    },
    400: problem(bad, ["proto.payload"], "The request breaks a rule")
  }
  for (const [status, all] of [...byStatus].toSorted(([a], [b]) => a - b)) answers[status] = problem(all, [], "")
  answers["default"] = problem([], ["internal.error", "service.unavailable"], "The platform has a problem")
  return answers
}

const isOptional = ({ ast }: Schema.Top): boolean =>
  ast.context?.isOptional === true || (ast._tag === "Union" && ast.types.some(({ _tag }) => _tag === "Undefined"))

const wireName = (path: string, key: string): string =>
  [...path.matchAll(/\{(\w+)\}/g)]
    .map(([, name]) => name)
    .find((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) === key) ?? key

/**
 * Describes endpoints. The schemas are those of the wire; an integer that may be beyond 2^53 has the format `int64`.
 *
 * **Example**
 *
 * ```ts
 * import { Endpoints } from "@colloquy/core"
 * import { OpenApi } from "@colloquy/testing"
 *
 * OpenApi.fromEndpoints(Endpoints.all).openapi // => "3.1.0"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromEndpoints = (endpoints: ReadonlyArray<Endpoint.Any>, options: Options = {}): OpenApi => {
  const { definitions, describe } = make(names())
  const paths: Record<string, Record<string, unknown>> = {}

  for (const { declaration, endpoint } of endpoints) {
    const { body, method, params, path, query, section, success } = declaration
    const inPath = Object.entries(params).map(([key, schema]) => ({
      name: wireName(path, key),
      in: "path",
      required: true,
      schema: describe(schema)
    }))
    const inQuery = Object.entries(query).map(([key, schema]) => ({
      name: key,
      in: "query",
      required: !isOptional(schema),
      style: "form",
      explode: false,
      schema: describe(schema)
    }))
    const parameters = [...inPath, ...inQuery]
    const required = Object.values(body).some((schema) => !isOptional(schema))
    const operation = {
      operationId: endpoint,
      tags: [endpoint.split(".")[0]],
      summary: section,
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(Object.keys(body).length === 0
        ? {}
        : { requestBody: { required, content: json(describe(Schema.Struct(body as Schema.Struct.Fields))) } }),
      responses: answersOf(declaration, describe(success))
    }
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }

  const update = describe(Update)
  const secret = { name: "X-Svc-Bot-Api-Secret", in: "header", schema: { type: "string" } }
  const tags = [...new Set(endpoints.map(({ endpoint }) => endpoint.split(".")[0]))].map((name) => ({ name }))
  return {
    openapi: "3.1.0",
    info: {
      title: options.title ?? "Bot Messaging Platform API",
      version: "0.1.0",
      description:
        "Times are Unix timestamps in milliseconds. Lists in a query are comma separated. Uploads go to the address that POST /uploads answers."
    },
    servers: [{ url: options.url ?? "/" }],
    security: [{ access_token: [] }],
    tags,
    paths,
    webhooks: {
      update: {
        post: {
          operationId: "Webhook.update",
          summary: "An update, sent to the URL of POST /subscriptions",
          security: [],
          parameters: [secret],
          requestBody: { required: true, content: json(update) },
          responses: { 200: { description: "Received. Anything else, or nothing within 30 seconds, is a failure." } }
        }
      }
    },
    components: {
      schemas: { ...definitions, Problem, Rejection },
      securitySchemes: { access_token: { type: "apiKey", in: "header", name: "Authorization" } }
    }
  }
}
