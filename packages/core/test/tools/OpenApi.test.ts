import { Message, Update } from "@colloquy/core"
import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import * as OpenApi from "@colloquy/core/tools/OpenApi"
import { Emulator, Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { problemOf, validatorOf } from "../../../testing/test/support/openapi.ts"
import { raw } from "../../../testing/test/support/raw.ts"
import { answers } from "../../../testing/test/support/validateAnswers.ts"

const document = OpenApi.fromEndpoints(Endpoints.all, { url: "http://127.0.0.1:8080" })

interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: unknown
  }>
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Readonly<Record<string, { readonly schema: object }>>
  }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: object }>>
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...(operation as Operation) }))
)

const operation = (id: string) => operations.find(({ operationId }) => operationId === id)!

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
    assert.deepStrictEqual(Object.keys(responses), ["200", "400", "401", "403", "404", "413", "429", "500", "default"])
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

  it("lists each code except proto.payload under one status", () => {
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
    assert.deepStrictEqual(count?.schema, {
      type: "integer",
      minimum: 1,
      maximum: 100,
      format: "int64",
      default: 50
    })
    const body = document.components.schemas["MessageBody"] as { readonly properties: Record<string, unknown> }
    assert.deepStrictEqual(body.properties["seq"], { type: "integer", format: "int64" })
  })

  it("lists the statuses 401 and 500 for every operation, and requires the bodies of requests", () => {
    for (const { operationId, requestBody, responses } of operations) {
      assert.containsAllKeys(responses, ["401", "500"], operationId)
      if (requestBody !== undefined) assert.isTrue(requestBody.required, operationId)
    }
  })

  it.each([
    ["Subscriptions.subscribe", "secret", { minLength: 5, maxLength: 256, pattern: "^[A-Za-z0-9\\-]{5,256}$" }],
    ["Subscriptions.subscribe", "url", { pattern: "^https://" }],
    ["Messages.send", "text", { maxLength: 4000 }],
    ["Messages.send", "attachments", { maxItems: 12 }],
    ["Messages.send", "notify", { default: true }],
    ["Messages.send", "disable_link_preview", { default: false }],
    ["Messages.list", "message_ids", { minItems: 1, uniqueItems: true }],
    ["Messages.list", "count", { minimum: 1, maximum: 100, default: 50 }],
    ["Comments.send", "text", { maxLength: 4000 }],
    ["Comments.list", "count", { minimum: 1, maximum: 100, default: 50 }],
    ["Chats.edit", "title", { minLength: 1, maxLength: 200 }],
    ["Chats.edit", "description", { maxLength: 16_000 }],
    ["Chats.edit", "notify", { default: true }],
    ["Chats.pin", "notify", { default: true }],
    ["Members.add", "user_ids", { minItems: 1, maxItems: 100, uniqueItems: true }],
    ["Members.list", "count", { minimum: 1, maximum: 100, default: 20 }],
    ["Members.setAdmins", "admins", { maxItems: 50 }],
    ["Me.setCommands", "commands", { maxItems: 32 }],
    ["Updates.list", "limit", { minimum: 1, maximum: 1000, default: 100 }],
    ["Updates.list", "timeout", { minimum: 0, maximum: 90, default: 30 }],
    ["Answers.send", "callback_id", { minLength: 1, pattern: "\\S" }]
  ])("states the limits and the default of %s %s", (id, field, expected) => {
    const { parameters = [], requestBody } = operation(id)
    const body = requestBody?.content["application/json"].schema as
      | { readonly properties?: Readonly<Record<string, object>> }
      | undefined
    const schema = parameters.find(({ name }) => name === field)?.schema ?? body?.properties?.[field]
    assert.deepInclude(schema as object, expected)
  })

  it("states the limits of a keyboard and of its buttons", () => {
    const at = (name: string) => JSON.parse(JSON.stringify(document.components.schemas[name]))
    const { buttons } = at("Keyboard").properties.payload.properties
    assert.deepStrictEqual([buttons.maxItems, buttons.items.minItems, buttons.items.maxItems], [30, 1, 7])
    const lengths = ["CallbackButton", "LinkButton", "OpenAppButton", "ClipboardButton", "MessageButton"].map(
      (name) => {
        const { payload, text, url } = at(name).properties
        return [name, text.minLength, text.maxLength, payload?.maxLength, url?.maxLength]
      }
    )
    assert.deepStrictEqual(lengths, [
      ["CallbackButton", 1, 128, 1024, undefined],
      ["LinkButton", 1, 128, undefined, 2048],
      ["OpenAppButton", 1, 128, 512, undefined],
      ["ClipboardButton", 1, 128, 1024, undefined],
      ["MessageButton", 1, 128, undefined, undefined]
    ])
  })

  it("rejects the requests that the client and the emulator reject", () => {
    const isBody = validatorOf("NewMessageBody")
    const keyboard = (buttons: unknown) => ({ attachments: [{ type: "inline_keyboard", payload: { buttons } }] })
    const button = { type: "callback", text: "a" }
    const image = (payload: object) => ({ attachments: [{ type: "image", payload }] })
    const good = [{ text: "a" }, keyboard([[button]]), image({ token: "a" }), image({ token: "a", url: null })]
    for (const body of good) assert.isTrue(isBody(body), JSON.stringify(body))
    const bad = [
      { text: "a".repeat(4001) },
      { attachments: Array.from({ length: 13 }, () => ({ type: "image", payload: { token: "a" } })) },
      { attachments: [{ type: "strange" }] },
      keyboard([[]]),
      keyboard([Array.from({ length: 8 }, () => button)]),
      keyboard(Array.from({ length: 31 }, () => [button])),
      keyboard([[{ ...button, text: "" }]]),
      image({}),
      image({ token: "a", url: "https://a.example" })
    ]
    for (const body of bad) assert.isFalse(isBody(body), JSON.stringify(body).slice(0, 100))
  })

  it("distinguishes the kinds of a union by a discriminator, with the unknown kind apart", () => {
    const unions = Object.entries(document.components.schemas).flatMap(([name, schema]) => {
      const { discriminator, oneOf } = schema as {
        readonly oneOf?: ReadonlyArray<{ readonly $ref: string }>
        readonly discriminator?: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> }
      }
      if (discriminator === undefined) return []
      const mapped = Object.values(discriminator.mapping)
      const apart = oneOf!.map(({ $ref }) => $ref).filter(($ref) => !mapped.includes($ref))
      return [[name, discriminator.propertyName, apart.map(($ref) => $ref.replace(/^.*\//, ""))]]
    })
    assert.deepStrictEqual(unions.toSorted(), [
      ["Attachment", "type", ["UnknownAttachment"]],
      ["AttachmentRequest", "type", []],
      ["Button", "type", ["UnknownButton"]],
      ["MarkupElement", "type", ["UnknownMarkupElement"]],
      ["Update", "update_type", ["UnknownUpdate"]]
    ])
  })

  it.effect("validates every answer of the emulator in the tests", () =>
    Effect.gen(function* () {
      const { status, text } = yield* raw("GET", "/me")
      yield* raw("GET", "/me", { token: null })
      assert.deepStrictEqual(
        [...answers.values()].map(({ endpoint, status }) => `${endpoint} ${status}`),
        ["Me.get 200", "Me.get 401"]
      )
      assert.isUndefined(problemOf("Me.get", status, text))
      assert.include(problemOf("Me.get", 200, text.replace("user_id", "id")), "must have required property 'user_id'")
      assert.include(problemOf("Me.get", 402, text), "has no status 402")
      assert.include(problemOf("Me.get", 401, "{}"), "must have required property 'code'")
    }).pipe(Effect.provide(Emulator.layerBot()))
  )

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

describe("The fields that can be null", () => {
  it("are nullable: notify, user_ids and types", () => {
    const { components, paths } = OpenApi.fromEndpoints(Endpoints.all)
    const typeOf = (path: string, method: string, name: string) => {
      const operation = paths[path][method] as {
        readonly parameters?: ReadonlyArray<{ readonly name: string; readonly schema: { readonly type: unknown } }>
      }
      return operation.parameters?.find((parameter) => parameter.name === name)?.schema.type
    }
    assert.deepStrictEqual(typeOf("/chats/{chatId}/members", "get", "user_ids"), ["array", "null"])
    assert.deepStrictEqual(typeOf("/updates", "get", "types"), ["array", "null"])
    assert.match(JSON.stringify(paths["/chats/{chatId}/pin"]["put"]), /"notify":{"type":\["boolean","null"\]/)
    assert.match(JSON.stringify(components.schemas["NewMessageBody"]), /"notify":{"type":\["boolean","null"\]/)
  })
})
