import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const unknown = (error: unknown): AiError.AiError =>
  error instanceof AiError.AiError
    ? error
    : AiError.make({
        module: "Assistant",
        method: "reply",
        reason: new AiError.UnknownError({
          description: error instanceof Error ? error.message : (JSON.stringify(error) ?? String(error))
        })
      })

/** The text of a response. A part that reports an error fails the stream. */
export const textOf = <P extends { readonly type: string }, E, R>(
  parts: Stream.Stream<P, E, R>
): Stream.Stream<string, E | AiError.AiError, R> =>
  Stream.flatMap(parts, (part) => {
    const { delta, error, type } = part as { readonly type: string; readonly delta?: string; readonly error?: unknown }
    if (type === "text-delta") return Stream.succeed(delta ?? "")
    return type === "error" ? Stream.fail(unknown(error)) : Stream.empty
  })

/** What the model and the functions have added to a conversation. */
export interface Added {
  messages: ReadonlyArray<Prompt.Message>
}

/**
 * Asks the model, runs the functions that it calls, and asks again with their results, until it calls none. Emits its text. The
 * messages of turns that are complete are put into `added`.
 */
export const converse = <Tools extends Record<string, Tool.Any>>(
  prompt: Prompt.Prompt,
  toolkit: Toolkit.WithHandler<Tools>,
  maxTurns: number,
  added: Added
) => {
  const turn = (
    asked: Prompt.Prompt,
    left: number,
    hasText: boolean
  ): Stream.Stream<
    string,
    AiError.AiError | Tool.HandlerError<Tools[keyof Tools]>,
    LanguageModel.LanguageModel | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
  > =>
    Stream.suspend(() => {
      const parts: Array<Response.AnyPart> = []
      let isFirst = hasText
      const response = LanguageModel.streamText({ prompt: asked, toolkit }).pipe(
        Stream.tap((part) => Effect.sync(() => void parts.push(part as unknown as Response.AnyPart)))
      )
      const text = Stream.map(textOf(response), (delta) => {
        if (!isFirst || delta === "") return delta
        isFirst = false
        return `\n\n${delta}`
      })
      const following = Stream.suspend(() => {
        const said = Prompt.fromResponseParts(parts)
        added.messages = [...added.messages, ...said.content]
        const isCalling = parts.some(({ type }) => type === "tool-call")
        const hasSaid = hasText || parts.some(({ type }) => type === "text-delta")
        if (!isCalling) return Stream.empty
        if (left > 1) return turn(Prompt.concat(asked, said), left - 1, hasSaid)
        return hasSaid ? Stream.empty : Stream.fail(unknown(new Error(`${maxTurns} requests brought no text`)))
      })
      return Stream.concat(text, following)
    })
  return turn(prompt, maxTurns, false)
}
