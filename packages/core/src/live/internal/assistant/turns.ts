import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type Call, type Decision, failed, pendingIn, reasons, refusalOf, resolve } from "./approvals.ts"
import type { Said } from "../liveMessage/content.ts"

const unknown = (error: unknown): AiError.AiError =>
  error instanceof AiError.AiError
    ? error
    : failed("reply", error instanceof Error ? error.message : (JSON.stringify(error) ?? String(error)))

/** The text of a response. Another part is an empty string, which shows that the model works. */
export const textOf = <P extends { readonly type: string }, E, R>(
  parts: Stream.Stream<P, E, R>
): Stream.Stream<string, E | AiError.AiError, R> =>
  Stream.flatMap(parts, (part) => {
    const { delta, error, type } = part as { readonly type: string; readonly delta?: string; readonly error?: unknown }
    if (type === "text-delta") return Stream.succeed(delta ?? "")
    return type === "error" ? Stream.fail(unknown(error)) : Stream.succeed("")
  })

/** The messages that the model and the functions have added to a conversation. */
export interface Added {
  messages: ReadonlyArray<Prompt.Message>
}

/** The decisions about calls that have waited for an approval. */
export interface Decided {
  readonly calls: ReadonlyArray<Call>
  readonly decisions: ReadonlyArray<Decision>
}

/** How a model is asked to go on with an answer that was cut off. */
export type GoOn = "instruction" | "prefix"

const instruction =
  "Your last message was cut off. Continue it exactly where it ended. Do not repeat anything of it, and do not comment on this."

const decodeTurn = Schema.decodeEffect(Schema.fromJsonString(Schema.toCodecJson(Prompt.Prompt)))

const encodeTurn = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(Prompt.Prompt)))

/** Returns the messages of the notes of a conversation, a list for each note. */
export const messagesOf = (
  notes: ReadonlyArray<{ readonly note: string }>
): Effect.Effect<ReadonlyArray<ReadonlyArray<Prompt.Message>>> =>
  Effect.orDie(Effect.forEach(notes, ({ note }) => Effect.map(decodeTurn(note), ({ content }) => content)))

const noteOf = (messages: ReadonlyArray<Prompt.Message>) =>
  Effect.map(Effect.orDie(encodeTurn(Prompt.fromMessages(messages))), (note) => ({ note }))

/** Whether the model has to be asked again: it has called functions, and no call waits for an approval. */
const goesOn = (messages: ReadonlyArray<Prompt.Message>): boolean =>
  pendingIn(messages).length === 0 &&
  messages.some(({ content }) => typeof content !== "string" && content.some(({ type }) => isCall(type)))

const isCall = (type: string): boolean => type === "tool-call" || type === "tool-result"

/** Puts the beginning of an answer before its rest. */
const withBeginning = (messages: ReadonlyArray<Prompt.Message>, beginning: string): ReadonlyArray<Prompt.Message> => {
  if (beginning === "") return messages
  const [first, ...others] = messages
  const isAnswer = first?.role === "assistant"
  const [part, ...parts] = isAnswer ? first.content : []
  const isText = part?.type === "text"
  const text = Prompt.textPart({ text: beginning + (isText ? part.text : "") })
  const answer = Prompt.assistantMessage({
    content: [text, ...(isText || part === undefined ? parts : [part, ...parts])]
  })
  return [answer, ...(isAnswer ? others : messages)]
}

/**
 * Returns a function that removes white space at the beginning of a text if the text before ends in the same white
 * space.
 */
const makeJoin = (before: string) => {
  let space = /\s*$/.exec(before)![0]
  return (delta: string): string => {
    let same = 0
    while (same < space.length && delta[same] === space[same]) same++
    space = same === delta.length ? space.slice(same) : ""
    return delta.slice(same)
  }
}

/** The text of a turn of an earlier attempt. */
interface Begun {
  readonly beginning: string
  /** Whether the empty line between this turn and the text before is there. */
  readonly isSeparated: boolean
}

const notBegun: Begun = { beginning: "", isSeparated: false }

const separator = /^\n\n/

/** A conversation with a model, which calls the functions of a toolkit. */
export interface Conversation<Tools extends Record<string, Tool.Any>> {
  readonly prompt: Prompt.Prompt
  readonly toolkit: Toolkit.WithHandler<Tools>
  readonly maxTurns: number
  readonly goOn: GoOn
  /** Gets the messages of turns that are complete. */
  readonly added: Added
  /** Whether a person can be asked to approve calls. */
  readonly canAsk: boolean
  /** The decisions with which the conversation goes on. Default: none. */
  readonly decided?: Decided | undefined
}

/**
 * Asks the model, runs the functions that the model calls, and asks again with their results, until the model calls no
 * function. Emits the text of the model, and after each turn a note with its messages. The conversation continues the
 * text of an earlier attempt.
 */
export const converse = <Tools extends Record<string, Tool.Any>>(
  { added, canAsk, decided, goOn, maxTurns, prompt, toolkit }: Conversation<Tools>,
  said: Said
) => {
  const turn = (
    asked: Prompt.Prompt,
    left: number,
    hasText: boolean,
    { beginning, isSeparated }: Begun
  ): Stream.Stream<
    string | { readonly note: string },
    AiError.AiError | Tool.HandlerError<Tools[keyof Tools]>,
    LanguageModel.LanguageModel | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
  > =>
    Stream.suspend(() => {
      const parts: Array<Response.AnyPart> = []
      let isFirst = hasText && !isSeparated
      const join = makeJoin(beginning)
      const response = LanguageModel.streamText({ prompt: toGoOn(asked, beginning, goOn), toolkit }).pipe(
        Stream.map((part) => (part.type === "text-delta" ? { ...part, delta: join(part.delta) } : part)),
        Stream.tap((part) => Effect.sync(() => void parts.push(part as unknown as Response.AnyPart)))
      )
      const text = Stream.map(textOf(response), (delta) => {
        if (!isFirst || delta === "") return delta
        isFirst = false
        return `\n\n${delta}`
      })
      const following = Stream.suspend(() => {
        const said = withBeginning(Prompt.fromResponseParts(parts).content, beginning)
        const messages = canAsk ? said : [...said, ...refusalOf(pendingIn(said), reasons.noPlace)]
        added.messages = [...added.messages, ...messages]
        const hasSaid = hasText || beginning !== "" || parts.some(({ type }) => type === "text-delta")
        return Stream.concat(
          Stream.fromEffect(noteOf(messages)),
          afterTurn(Prompt.concat(asked, Prompt.fromMessages(messages)), messages, left - 1, hasSaid)
        )
      })
      return Stream.concat(text, following)
    })
  const afterTurn = (
    asked: Prompt.Prompt,
    messages: ReadonlyArray<Prompt.Message>,
    left: number,
    hasSaid: boolean,
    begun = notBegun
  ): ReturnType<typeof turn> => {
    if (!goesOn(messages)) return Stream.empty
    if (left > 0) return turn(asked, left, hasSaid, begun)
    return hasSaid ? Stream.empty : Stream.fail(failed("reply", `${maxTurns} requests brought no text`))
  }
  return Stream.unwrap(
    Effect.gen(function* () {
      const turns = yield* messagesOf(said.notes)
      const before = said.notes.at(-1)?.at ?? 0
      const rest = said.text.slice(before)
      const begun = { beginning: before === 0 ? rest : rest.replace(separator, ""), isSeparated: rest !== "" }
      added.messages = turns.flat()
      const asked = Prompt.concat(prompt, Prompt.fromMessages(added.messages))
      const last = turns.at(-1)
      if (last !== undefined) {
        const left = maxTurns + (decided === undefined ? 0 : 1) - turns.length
        return afterTurn(asked, last, left, said.text.trim() !== "", begun)
      }
      if (decided === undefined) return turn(asked, maxTurns, false, begun)
      const resolved = [yield* resolve(toolkit, decided.calls, decided.decisions)]
      added.messages = resolved
      const following = turn(Prompt.concat(asked, Prompt.fromMessages(resolved)), maxTurns, false, notBegun)
      return Stream.concat(Stream.fromEffect(noteOf(resolved)), following)
    })
  )
}

/** The same functions, which count how many of them run. */
export const counted = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.WithHandler<Tools>,
  running: { functions: number }
): Toolkit.WithHandler<Tools> => {
  const ended = Effect.sync(() => void running.functions--)
  const handle: typeof toolkit.handle = (...call) =>
    Effect.suspend(() => {
      running.functions++
      return Effect.onError(Effect.map(toolkit.handle(...call), Stream.ensuring(ended)), () => ended)
    })
  return { ...toolkit, handle }
}

const toGoOn = (asked: Prompt.Prompt, beginning: string, goOn: GoOn): Prompt.Prompt => {
  if (beginning.trim() === "") return asked
  const begun = Prompt.concat(asked, [{ role: "assistant", content: beginning.trimEnd() }])
  return goOn === "prefix" ? begun : Prompt.concat(begun, [{ role: "user", content: instruction }])
}
