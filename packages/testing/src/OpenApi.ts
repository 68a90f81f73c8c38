/**
 * An OpenAPI 3.1 document, read from the declarations of the endpoints: for clients in other languages, for mock servers
 * and for whoever wants to look the platform up in a viewer.
 *
 * @since 0.1.0
 */
import type * as Endpoint from "@colloquy/core/Endpoint"
import { Update } from "@colloquy/core/Update"
import * as Schema from "effect/Schema"
import { answersOf, json, shared } from "./internal/openapi/answers.ts"
import { make } from "./internal/openapi/jsonSchema.ts"
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
      schemas: { ...definitions, ...shared },
      securitySchemes: { access_token: { type: "apiKey", in: "header", name: "Authorization" } }
    }
  }
}
