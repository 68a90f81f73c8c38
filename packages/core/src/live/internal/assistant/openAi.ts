import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Options } from "../../OpenAiModel.ts"
import { defaultIdleTimeout, failWhenIdle } from "../idle.ts"

const optional = <S extends Schema.Constraint>(schema: S) => Schema.optional(Schema.NullOr(schema))

const Chunk = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({
      delta: Schema.Struct({
        content: optional(Schema.String),
        tool_calls: optional(
          Schema.Array(
            Schema.Struct({
              index: Schema.optional(Schema.Int),
              id: optional(Schema.String),
              function: Schema.Struct({ name: optional(Schema.String), arguments: optional(Schema.String) })
            })
          )
        )
      }),
      finish_reason: optional(Schema.String)
    })
  )
})

const decodeChunk = Schema.decodeUnknownEffect(Schema.fromJsonString(Chunk))

const fail = (reason: AiError.AiErrorReason) => AiError.make({ module: "OpenAiModel", method: "streamText", reason })

const textOf = (parts: ReadonlyArray<{ readonly type: string; readonly text?: string }>): string =>
  parts.flatMap(({ text, type }) => (type === "text" && text !== undefined ? [text] : [])).join("\n")

const toMessages = (message: Prompt.Message): ReadonlyArray<object> => {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }]
    case "user":
      return [{ role: "user", content: textOf(message.content) }]
    case "assistant": {
      const calls = message.content.flatMap((part) =>
        part.type === "tool-call"
          ? [{ id: part.id, type: "function", function: { name: part.name, arguments: JSON.stringify(part.params) } }]
          : []
      )
      return [{ role: "assistant", content: textOf(message.content), ...(calls.length > 0 && { tool_calls: calls }) }]
    }
    case "tool":
      return message.content.flatMap((part) =>
        part.type === "tool-result"
          ? [{ role: "tool", tool_call_id: part.id, content: JSON.stringify(part.result) }]
          : []
      )
  }
}

const toTool = (tool: Tool.Any) => ({
  type: "function",
  function: { name: tool.name, description: Tool.getDescription(tool), parameters: Tool.getJsonSchema(tool) }
})

const finished: Response.FinishPartEncoded = {
  type: "finish",
  reason: "stop",
  usage: { inputTokens: {}, outputTokens: {} }
}

/**
 * The parts of a response: text as it arrives, and the calls of functions at the end, because the arguments of a call
 * are split.
 */
const toParts = (chunks: Stream.Stream<typeof Chunk.Type, AiError.AiError>) =>
  Stream.suspend((): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> => {
    const calls = new Map<number, { id: string; name: string; params: string }>()
    const deltas = Stream.flatMap(chunks, ({ choices }) => {
      const delta = choices[0]?.delta
      for (const { function: called, id, index = 0 } of delta?.tool_calls ?? []) {
        const call = calls.get(index) ?? { id: id ?? `call ${index}`, name: "", params: "" }
        calls.set(index, call)
        call.name += called.name ?? ""
        call.params += called.arguments ?? ""
      }
      return delta?.content
        ? Stream.succeed({ type: "text-delta", id: "text", delta: delta.content } as const)
        : Stream.empty
    })
    const called = Stream.suspend(() =>
      Stream.fromIterable(
        Array.from(calls.values(), ({ id, name, params }) => ({
          type: "tool-call" as const,
          id,
          name,
          params: Tool.unsafeSecureJsonParse(params === "" ? "{}" : params),
          providerExecuted: false
        }))
      )
    )
    return Stream.make({ type: "text-start", id: "text" } as const).pipe(
      Stream.concat(deltas),
      Stream.concat(Stream.make({ type: "text-end", id: "text" } as const)),
      Stream.concat(called),
      Stream.concat(Stream.make(finished))
    )
  })

const toAiError = (error: HttpClientError.HttpClientError): AiError.AiError => {
  const status = error.response?.status
  const description = error.message
  return fail(
    status === undefined
      ? new AiError.UnknownError({ description })
      : AiError.reasonFromHttpStatus({ status, description })
  )
}

/** The parts of a complete response: the whole text, and the calls of functions. */
const collect = (parts: Stream.Stream<Response.StreamPartEncoded, AiError.AiError>) =>
  Effect.map(Stream.runCollect(parts), (all): Array<Response.PartEncoded> => {
    const text = all.map((part) => (part.type === "text-delta" ? part.delta : "")).join("")
    const others = all.flatMap((part) => (part.type === "tool-call" || part.type === "finish" ? [part] : []))
    return text === "" ? others : [{ type: "text", text }, ...others]
  })

/** Creates the model. */
export const make = Effect.fnUntraced(function* ({ apiKey, baseUrl, idleTimeout, model }: Options) {
  const timeout = Duration.fromInputUnsafe(idleTimeout ?? defaultIdleTimeout)
  const silent = () =>
    fail(
      new AiError.InternalProviderError({
        description: `The model "${model}" has sent nothing for ${Duration.format(timeout)}. The option \`idleTimeout\` changes this limit.`
      })
    )
  const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
  const streamText = ({ prompt, tools }: LanguageModel.ProviderOptions) => {
    const request = HttpClientRequest.post(`${baseUrl.replace(/\/$/, "")}/chat/completions`).pipe(
      apiKey === undefined ? (self) => self : HttpClientRequest.bearerToken(apiKey),
      HttpClientRequest.bodyJsonUnsafe({
        model,
        stream: true,
        messages: prompt.content.flatMap(toMessages),
        ...(tools.length > 0 && { tools: tools.map(toTool) })
      })
    )
    const chunks = HttpClientResponse.stream(client.execute(request)).pipe(
      Stream.mapError(toAiError),
      Stream.decodeText(),
      Stream.pipeThroughChannel(Sse.decode<AiError.AiError, unknown>()),
      Stream.takeWhile(({ data }) => data !== "[DONE]"),
      Stream.mapEffect(({ data }) => decodeChunk(data)),
      Stream.mapError((error) =>
        error._tag === "AiError"
          ? error
          : fail(new AiError.UnknownError({ description: error._tag === "Retry" ? "Interrupted" : error.message }))
      )
    )
    return toParts(failWhenIdle(chunks, { timeout, error: silent }))
  }
  return yield* LanguageModel.make({ streamText, generateText: (options) => collect(streamText(options)) })
})
