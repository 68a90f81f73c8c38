/** The emulator: calls of its control API and of bots, and the command line. */
import { type Endpoint, Json } from "@colloquy/core"
import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import { paramKey } from "@colloquy/core/client/Endpoint"
import { Emulator, type EmulatorHttp, type Faults } from "@colloquy/testing"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { StoppableClock } from "../../packages/testing/src/emulator/internal/command/clock.ts"
import { mainWith } from "../../packages/testing/src/emulator/internal/command/command.ts"
import * as declarations from "../../packages/testing/src/emulator/internal/control/declarations.ts"
import { peopleHandlers } from "../../packages/testing/src/emulator/internal/control/people.ts"
import { platformHandlers } from "../../packages/testing/src/emulator/internal/control/platform.ts"
import { seedHandlers } from "../../packages/testing/src/emulator/internal/control/seed.ts"
import { mutations } from "./mutation.ts"
import { requests } from "./requests.ts"
import { type Target, token } from "./target.ts"

/** A call as JSON. Names in braces such as `{user}` and `{group}` are replaced by ids of the started emulator. */
interface Call {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
}

const references = {
  user_id: "{user}",
  member_id: "{friend}",
  chat_id: "{group}",
  message_id: "{message}",
  comment_id: "{comment}"
}

const generated = (schema: Schema.Top): unknown =>
  Effect.runSync(
    Effect.orElseSucceed(
      Effect.map(
        Arbitrary.sampleEffect(Arbitrary.schema(schema as Schema.Constraint), { count: 1, seed: 1, size: 3 }),
        ([value]) => Schema.encodeUnknownSync(schema as Schema.Codec<unknown, unknown>)(value)
      ),
      () => "{message}"
    )
  )

const fieldsOf = (fields: Readonly<Record<string, Schema.Top>>, given: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([key, schema]) => [
      key,
      references[key as keyof typeof references] ?? given[key] ?? generated(schema)
    ])
  )

const callOf = ({ declaration, endpoint }: Endpoint.Any): Call => {
  const given = (requests[endpoint] ?? {}) as Readonly<Record<string, unknown>>
  const params = fieldsOf(declaration.params, given)
  const path = declaration.path.replace(/\{(\w+)\}/g, (_, name: string) => String(params[paramKey(name)]))
  const { body, query } = declaration
  return { method: declaration.method, path, query: fieldsOf(query, given), body: fieldsOf(body, given) }
}

const sampleOf = (endpoint: Endpoint.Any): string => Json.stringify(callOf(endpoint))

const lenient = (input: string): Call => {
  const parsed = Schema.decodeUnknownOption(
    Schema.Struct({
      method: Schema.String,
      path: Schema.String,
      query: Schema.Record(Schema.String, Schema.Unknown),
      body: Schema.Unknown
    })
  )(jsonOf(input))
  return parsed._tag === "Some" ? parsed.value : { method: "POST", path: "/_emulator/seed", query: {}, body: input }
}

const jsonOf = (input: string): unknown => {
  try {
    return Json.parse(input)
  } catch {
    return input
  }
}

const queryOf = (query: Call["query"]): string => {
  const text = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(
      ([key, value]) =>
        `${encodeURIComponent(key.toWellFormed())}=${encodeURIComponent(Json.stringify(value)?.replace(/^"|"$/g, "").toWellFormed() ?? "")}`
    )
    .join("&")
  return text === "" ? "" : `?${text}`
}

/** An emulator in virtual time with people and chats, and the values of the names in braces. */
const startEmulator = Effect.gen(function* () {
  const clock = new StoppableClock(yield* Clock.Clock, 1_767_225_600_000, false)
  const { emulator, known } = yield* Effect.provideService(startPlatform, Clock.Clock, clock)
  const handle: EmulatorHttp.Handler = (request) => Effect.provideService(emulator.handle(request), Clock.Clock, clock)
  return { handle, known }
})

const startPlatform = Effect.gen(function* () {
  const context = yield* Layer.build(Emulator.layer({ token, insecureWebhooks: true }))
  const emulator = Context.get(context, Emulator.Emulator)
  return yield* Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    const ben = yield* Emulator.user("Ben")
    const dialog = yield* ann.start()
    const group = yield* Emulator.chat({ type: "chat", title: "Group", members: [ann, ben] })
    const channel = yield* Emulator.chat({
      type: "channel",
      title: "Channel",
      members: [ann],
      owner: ann,
      hasComments: true
    })
    const message = yield* ann.send(group, "Hello")
    const post = yield* ann.send(channel, "News")
    const comment = yield* ann.comment(post, "First")
    const known: Readonly<Record<string, string>> = {
      user: String(ann.user_id),
      friend: String(ben.user_id),
      dialog: String(dialog.chat_id),
      group: String(group.chat_id),
      message: message.body!.mid,
      comment: comment.body.mid
    }
    return { emulator, known }
  }).pipe(Effect.provideContext(context), Effect.orDie)
})

const uploads = { image: "http://i", video: "http://v", audio: "http://a", file: "http://f" }

// Faults, revoked tokens and the time change the responses of later calls.
const changing = /^\/?_emulator\/(?:faults|bots|clock)/

const faults: ReadonlyArray<Faults.Rule> = [
  { endpoint: "Messages.send", nth: 1, status: 503 },
  { path: "/chats/{chatId}", every: 3, status: 429, code: "too.many.requests", headers: { "retry-after": "1" } },
  { method: "POST", chat_id: 1, reset: "after", times: 1, truncate: 10 },
  { probability: 0.1, seed: 7, delay: 3000, message: "No", body: { code: 1 } },
  { update_type: "message_created", delivery: "duplicate" },
  { forward_body: "null" }
]

const calls = (name: string, samples: ReadonlyArray<string>): Target => ({
  name,
  input: mutations(samples, Object.values(references)),
  start: Effect.gen(function* () {
    let state = yield* startEmulator
    let taken = 0
    let isChanged = false
    const take = (input: string) =>
      Effect.gen(function* () {
        // Calls add users and messages; a new emulator now and then keeps the time of a call independent of earlier ones.
        if (++taken % 50 === 0 || isChanged) state = yield* startEmulator
        const { handle, known } = state
        const resolved = input
          .replaceAll(/"\{(user|friend|dialog|group)\}"/g, (_, name: string) => known[name])
          .replaceAll(/\{(\w+)\}/g, (whole, name: string) => known[name] ?? whole)
        const { body, method, path, query } = lenient(resolved)
        isChanged = changing.test(path)
        const text = typeof body === "string" ? body : (Json.stringify(body) ?? "")
        const bytes = new TextEncoder().encode(text)
        const { body: answer, status } = yield* handle({
          method,
          path: path.startsWith("/") ? path : `/${path}`,
          query: queryOf({
            ...query,
            // Without it, a poll waits for an update.
            ...(/^\/?updates$/.test(path) || "timeout" in query ? { timeout: 0 } : {}),
            ...("wait_ms" in query ? { wait_ms: 0 } : {})
          }),
          headers: {
            authorization: token,
            "content-type": "application/json",
            "content-length": String(bytes.length)
          },
          body: { text: Effect.succeed(text), bytes: Stream.make(bytes) },
          listener: { kind: "api", uploads }
        })
        if (status >= 500) return yield* Effect.die(`${method} ${path}: ${status} ${answer}`)
        return [String(status)]
      }).pipe(Effect.scoped)
    return { take }
  })
})

export const control: Target = calls(
  "control API",
  Object.keys({ ...peopleHandlers, ...platformHandlers, ...seedHandlers })
    .map((name) => sampleOf(declarations[name as keyof typeof peopleHandlers]))
    .concat(JSON.stringify({ method: "PUT", path: "/_emulator/faults", query: {}, body: { rules: faults } }))
)

export const botApi: Target = calls("bot API of the emulator", Endpoints.all.map(sampleOf))

const commandLines = [
  ["--port", "8080", "--host", "127.0.0.1", "--upload-ports", "8081,8082,8083,8084"],
  ["--token", "one", "--token", "two", "--limits", "30,2,2", "--strict"],
  ["--webhook-to", "127.0.0.1:8443", "--webhook-root", "/none.pem", "--json"],
  ["--seed", "/none.json", "--record", "/none/journal", "--replay", "/none/journal", "--virtual-time", "--lenient"],
  ["--help"],
  ["--version"]
].map((args) => JSON.stringify(args))

export const commandLine: Target = {
  name: "command line",
  input: mutations(commandLines, [
    "--limits",
    "--limits=off",
    "--upload-ports=1,2,3,4",
    "--",
    "-h",
    "--no-strict",
    "--port=",
    "0"
  ]),
  start: Effect.succeed({
    take: (input) =>
      Effect.suspend(() => {
        const lines: Array<string> = []
        const say = (...values: ReadonlyArray<unknown>) => void lines.push(values.map(String).join(" "))
        const parsed = jsonOf(input)
        const args = (Array.isArray(parsed) ? parsed : [parsed]).map((arg) =>
          typeof arg === "string" ? arg : Json.stringify(arg)
        )
        return mainWith(args, () => Effect.void).pipe(
          Effect.provideService(Console.Console, { ...globalThis.console, log: say, error: say } as never),
          Effect.provide(NodeServices.layer),
          Effect.match({ onFailure: (error) => [String(error), ...lines], onSuccess: () => lines }),
          Effect.map((texts) => {
            const defect = texts.find((text) => text.includes("there is a defect"))
            if (defect !== undefined) throw new Error(defect)
            return texts
          })
        )
      })
  })
}
