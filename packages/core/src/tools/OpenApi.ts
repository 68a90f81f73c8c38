/**
 * Generates an OpenAPI 3.1 document from endpoint declarations: for clients in other languages, mock servers and API
 * viewers.
 *
 * Import this module by its path, `@colloquy/core/tools/OpenApi`. The index of the package does not export the module.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { paramKey } from "../client/Endpoint.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import { isOptional, make } from "./internal/jsonSchema.ts"
import { components, json, responsesOf } from "./internal/responses.ts"
import * as Platform from "../base/Platform.ts"
import { Secret } from "../endpoints/Subscriptions.ts"
import { Update } from "../model/Update.ts"

/**
 * An OpenAPI 3.1 document as plain JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface Document {
  /** The version of the OpenAPI specification. */
  readonly openapi: "3.1.0"
  /** The title, version and description of the API. */
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  /** The base URLs of the API. */
  readonly servers: ReadonlyArray<{ readonly url: string }>
  /** The security schemes that every operation requires. */
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  /** One tag for each module of endpoints. */
  readonly tags: ReadonlyArray<{ readonly name: string }>
  /** The operations by path and by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** The request that the platform sends to a webhook. */
  readonly webhooks: Readonly<Record<string, unknown>>
  /** The schemas and security schemes that the operations refer to. */
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>
    readonly securitySchemes: Readonly<Record<string, unknown>>
  }
}

/**
 * Options of {@link fromEndpoints}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The base URL of the API. Default: `"/"`. */
  readonly url?: string | undefined
  /** The title of the document. Default: `"Bot Messaging Platform API"`. */
  readonly title?: string | undefined
}

/** The name of a parameter in the path: `chatId` for the key `chat_id`. */
const pathParameterName = (path: string, key: string): string =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).find((name) => paramKey(name) === key) ?? key

/**
 * Generates an OpenAPI document for endpoints.
 *
 * The schemas describe the JSON of the API, not the decoded types. An integer that may exceed 2^53 has the format
 * `int64`. The document also describes the request that the platform sends to a webhook.
 *
 * **Example** (Generating the document of the whole API)
 *
 * ```ts
 * import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
 * import * as OpenApi from "@colloquy/core/tools/OpenApi"
 *
 * OpenApi.fromEndpoints(Endpoints.all).openapi // => "3.1.0"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromEndpoints = (endpoints: ReadonlyArray<Endpoint.Any>, options: Options = {}): Document => {
  const { definitions, describe } = make()
  const paths: Record<string, Record<string, unknown>> = {}

  for (const { declaration, endpoint } of endpoints) {
    const { body, method, params, path, query, section, success } = declaration
    const inPath = Object.entries(params).map(([key, schema]) => ({
      name: pathParameterName(path, key),
      in: "path",
      required: true,
      schema: describe(schema)
    }))
    const inQuery = Object.entries(query).map(([key, schema]) => ({
      name: key,
      in: "query",
      required: !isOptional(schema.ast),
      style: "form",
      explode: false,
      schema: describe(schema)
    }))
    const parameters = [...inPath, ...inQuery]
    const operation = {
      operationId: endpoint,
      tags: [endpoint.split(".")[0]],
      summary: section,
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(Object.keys(body).length === 0
        ? {}
        : { requestBody: { required: true, content: json(describe(Schema.Struct(body as Schema.Struct.Fields))) } }),
      responses: responsesOf(declaration, describe(success))
    }
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }

  const update = describe(Update)
  const secret = { name: Platform.secretHeader, in: "header", schema: describe(Secret) }
  const tags = [...new Set(endpoints.map(({ endpoint }) => endpoint.split(".")[0]))].map((name) => ({ name }))
  return {
    openapi: "3.1.0",
    info: {
      title: options.title ?? "Bot Messaging Platform API",
      version: "0.1.0",
      description:
        "Times are Unix timestamps in milliseconds. Lists in a query are comma separated. Files are uploaded to the address that POST /uploads returns."
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
          responses: {
            200: {
              description: "The update was received. Any other response, or none within 30 seconds, is a failure."
            }
          }
        }
      }
    },
    components: {
      schemas: { ...definitions, ...components },
      securitySchemes: { access_token: { type: "apiKey", in: "header", name: "Authorization" } }
    }
  }
}
