import { Message, Update } from "@colloquy/core"
import * as Endpoints from "@colloquy/core/Endpoints"
import * as OpenApi from "@colloquy/core/OpenApi"
import { Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const document = OpenApi.fromEndpoints(Endpoints.all, { url: "http://127.0.0.1:8080" })

interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: unknown
  }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: object }>>
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...(operation as Operation) }))
)

const operation = (id: string) => operations.find(({ operationId }) => operationId === id)!

const validatorOf = (name: string) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: "document", components: document.components })
  return ajv.compile({ $ref: `document#/components/schemas/${name}` })
}

/** The JSON value as a parser without exact integers returns it. */
const onWire = (schema: Schema.Codec<unknown, unknown>, value: unknown): unknown => {
  const encoded = Schema.encodeUnknownSync(schema)(value)
  return JSON.parse(JSON.stringify(encoded, (_, each: unknown) => (typeof each === "bigint" ? Number(each) : each)))
}

describe("OpenApi", () => {
  it.effect("generates a document that a public validator accepts", () =>
    Effect.gen(function* () {
      const { errors, valid } = yield* Effect.promise(() =>
        new Validator().validate(JSON.parse(JSON.stringify(document)))
      )
      assert.deepStrictEqual(errors, undefined)
      assert.isTrue(valid)
    })
  )

  it("describes every endpoint with every part of its request", () => {
    assert.deepStrictEqual(
      operations.map(({ operationId }) => operationId).toSorted(),
      Endpoints.all.map(({ endpoint }) => endpoint).toSorted()
    )
    for (const { declaration, endpoint } of Endpoints.all) {
      const { parameters = [], path, requestBody } = operation(endpoint)
      assert.strictEqual(path, declaration.path)
      assert.lengthOf(parameters, Object.keys({ ...declaration.params, ...declaration.query }).length, endpoint)
      for (const { in: where, name, required } of parameters) {
        if (where === "path") assert.isTrue(required && path.includes(`{${name}}`), `${endpoint} ${name}`)
      }
      assert.strictEqual(requestBody !== undefined, Object.keys(declaration.body).length > 0, endpoint)
    }
  })

  it("leaves no schema empty except raw contact data", () => {
    const empty: Array<string> = []
    const walk = (value: unknown, place: string): void => {
      if (typeof value !== "object" || value === null) return
      if (!Array.isArray(value) && Object.keys(value).length === 0) empty.push(place)
      for (const [key, member] of Object.entries(value)) walk(member, `${place}/${key}`)
    }
    walk(document.components.schemas, "")
    walk(document.paths, "")
    assert.deepStrictEqual(empty, ["/ContactAttachment/properties/payload/additionalProperties"])
  })

  it("lists the errors of an endpoint by status and code", () => {
    const { responses } = operation("Messages.send")
    assert.deepStrictEqual(Object.keys(responses), ["200", "400", "401", "403", "404", "413", "429", "default"])
    assert.include(responses["400"].description, "attachment.not.ready")
    assert.include(responses["401"].description, "verify.token")
    assert.include(JSON.stringify(operation("Members.add").responses["200"]), "Rejection")
  })

  it.each([
    ["Me.get", 403, "deprecated.token"],
    ["Messages.send", 403, "deprecated.token"],
    ["Messages.send", 413, "proto.payload"],
    ["Comments.edit", 422, "comments.timeout_exceeded"],
    ["Updates.list", 405, "method.not.allowed"]
  ])("lists the error of %s with status %i and code %s under this status only", (id, status, code) => {
    const { default: _, ...responses } = operation(id).responses
    const statuses = Object.entries(responses).flatMap(([status, { description }]) =>
      description.endsWith(code) || description.includes(`${code},`) ? [Number(status)] : []
    )
    assert.deepStrictEqual(code === "proto.payload" ? statuses : [400, ...statuses], [400, status])
  })

  it("lists no code under two statuses except proto.payload", () => {
    for (const { operationId, responses } of operations) {
      const codes = Object.values(responses).flatMap(({ description }) => description.split(": ")[1]?.split(", ") ?? [])
      const others = codes.filter((code) => code !== "proto.payload")
      assert.strictEqual(new Set(others).size, others.length, operationId)
      assert.include(responses["403"].description, "deprecated.token")
    }
  })

  it("includes limits and integer formats", () => {
    const text = JSON.stringify(operation("Messages.send").requestBody)
    assert.include(text, `"maxLength":4000`)
    const count = operation("Messages.list").parameters!.find(({ name }) => name === "count")
    assert.deepStrictEqual(count?.schema, { type: "integer", minimum: 1, maximum: 100, format: "int64" })
    const body = document.components.schemas["MessageBody"] as { readonly properties: Record<string, unknown> }
    assert.deepStrictEqual(body.properties["seq"], { type: "integer", format: "int64" })
  })

  it("generates schemas that accept data of the platform, unknown kinds included, and reject malformed data", () => {
    const isMessage = validatorOf("Message")
    const attachments = [{ type: "location" as const, latitude: 1, longitude: 2 }]
    assert.isTrue(
      isMessage(onWire(Message.Message, Fixtures.message({ attachments }))),
      JSON.stringify(isMessage.errors)
    )
    assert.isFalse(isMessage({ timestamp: 1 }))

    const isUpdate = validatorOf("Update")
    const update = onWire(Update.Update, Fixtures.botStarted()) as object
    assert.isTrue(isUpdate(update), JSON.stringify(isUpdate.errors))
    assert.isTrue(isUpdate({ update_type: "came_later", anything: 1 }))
    assert.isFalse(isUpdate({ ...update, chat_id: "x" }))
  })
})
