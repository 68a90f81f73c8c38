import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as attachments from "../../../model/Attachment.ts"
import * as FieldIssue from "../../../base/FieldIssue.ts"
import * as Keyboard from "../../../model/Keyboard.ts"
import type { Answer, AnswerInput, AttachmentKind, Choices } from "../../Conversation.ts"
import { textOf } from "../../../model/Update.ts"
import { parseExactly, stringify } from "../../../base/internal/json.ts"
import { parse as parseCommand } from "../../../model/internal/text/command.ts"

type TextSchema = Schema.ConstraintCodec<unknown, string, unknown, unknown>

type Coded = Effect.Effect<unknown, string, unknown>

/** Most schemas decode at once. Then nothing is left to run. */
const withProblem = (effect: Effect.Effect<unknown, Schema.SchemaError, unknown>): Coded =>
  Exit.isExit(effect) && Exit.isSuccess(effect) ? Effect.succeed(effect.value) : Effect.mapError(effect, problemOf)

const problemOf = ({ issue }: Schema.SchemaError): string => FieldIssue.formatSchemaIssue(issue)

const textIn = (input: AnswerInput): string | undefined =>
  input._tag === "Message" ? textOf(input.update)?.trim() || undefined : undefined

export const isCommand = (input: AnswerInput): boolean => parseCommand(textIn(input) ?? "") !== undefined

const makeText = (schema: TextSchema): Answer<unknown, unknown> => {
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all" })
  const encode = Schema.encodeEffect(schema, { errors: "all" })
  return {
    signature: "text",
    read: (input) => {
      const text = isCommand(input) ? undefined : textIn(input)
      return text === undefined ? undefined : withProblem(decode(text))
    },
    encode: (value) => withProblem(encode(value)) as Effect.Effect<Schema.Json, string, unknown>,
    decode: (stored) => withProblem(decode(stored))
  }
}

/** The body of a conversation runs for each answer, so each schema has one answer that decodes texts. */
const textOfSchema = memoize(makeText)

/** A text that a schema reads. */
export const text = (schema: TextSchema = Schema.NonEmptyString): Answer<unknown, unknown> => textOfSchema(schema)

/** The answer is one of several choices. */
export const choice = (choices: Choices): Answer<string> => {
  const check = (value: unknown) =>
    typeof value === "string" && Object.hasOwn(choices, value)
      ? Effect.succeed(value)
      : Effect.fail(`must be one of ${Object.keys(choices).join(", ")}`)
  return {
    signature: "choice",
    choices,
    read: (input) =>
      input._tag === "Choice" && Object.hasOwn(choices, input.value) ? Effect.succeed(input.value) : undefined,
    encode: check,
    decode: check
  }
}

/** Several of several choices. */
export const several = (choices: Choices): Answer<ReadonlyArray<string>> => {
  const check = (value: unknown) =>
    Array.isArray(value) && value.every((one) => typeof one === "string" && Object.hasOwn(choices, one))
      ? Effect.succeed(value as ReadonlyArray<string>)
      : Effect.fail(`must be some of ${Object.keys(choices).join(", ")}`)
  return { signature: "several", choices, read: () => undefined, encode: check, decode: check }
}

const flags: { readonly [answer: string]: boolean } = { yes: true, no: false }

/** Yes or no. */
export const confirmation = (yes: string, no: string): Answer<boolean> => {
  const check = (value: unknown) =>
    typeof value === "boolean" ? Effect.succeed(value) : Effect.fail("must be true or false")
  return {
    signature: "confirmation",
    choices: { yes, no },
    read: (input) =>
      input._tag === "Choice" && Object.hasOwn(flags, input.value) ? Effect.succeed(flags[input.value]!) : undefined,
    encode: check,
    decode: check
  }
}

const encodeAttachment = Schema.encodeEffect(attachments.Attachment)
const decodeAttachment = Schema.decodeUnknownEffect(attachments.Attachment)

/** An attachment of a type. The attachment is stored as JSON text, because its ids can exceed 2^53. */
export const attachment = (kind: AttachmentKind, button?: Keyboard.Button): Answer<attachments.Attachment> => ({
  signature: kind,
  ...(button === undefined ? {} : { buttons: [button] }),
  read: (input) => {
    if (input._tag !== "Message") return undefined
    const found = input.update.message?.body?.attachments?.find(({ type }) => type === kind)
    return found === undefined ? undefined : Effect.succeed(found)
  },
  encode: (value) =>
    Effect.mapBoth(encodeAttachment(value as attachments.Attachment), { onSuccess: stringify, onFailure: problemOf }),
  decode: (stored) =>
    typeof stored !== "string"
      ? Effect.fail("must be a text")
      : Effect.try({ try: () => parseExactly(stored), catch: () => "must be JSON" }).pipe(
          Effect.flatMap((json) => Effect.mapError(decodeAttachment(json), problemOf)),
          Effect.filterOrFail(
            ({ type }) => type === kind,
            () => `must be of the type ${kind}`
          )
        )
})

export const contact = (button?: string): Answer<attachments.Attachment> =>
  attachment("contact", button === undefined ? undefined : Keyboard.requestContact(button))

export const location = (button?: string): Answer<attachments.Attachment> =>
  attachment("location", button === undefined ? undefined : Keyboard.requestGeoLocation(button))

/** A command. The value is the text after the command. */
export const command = (name: string): Answer<string> => {
  const expected = name.replace(/^\//, "").toLowerCase()
  const check = (value: unknown) => (typeof value === "string" ? Effect.succeed(value) : Effect.fail("must be a text"))
  return {
    signature: `/${expected}`,
    read: (input) => {
      const parsed = parseCommand(textIn(input) ?? "")
      return parsed?.name === expected ? Effect.succeed(parsed.text) : undefined
    },
    encode: check,
    decode: check
  }
}

/** The first of several kinds of answers that accepts the input. Its choices have the tag before their value. */
export const any = (answers: { readonly [tag: string]: Answer<unknown, unknown> }): Answer<unknown, unknown> => {
  const tags = Object.keys(answers)
  const choices = Object.fromEntries(
    tags.flatMap((tag) =>
      Object.entries(answers[tag]!.choices ?? {}).map(([value, label]) => [`${tag}.${value}`, label])
    )
  )
  const unknownTag = Effect.fail(`must have one of the tags ${tags.join(", ")}`)
  return {
    signature: tags.map((tag) => `${tag}:${answers[tag]!.signature}`).join(","),
    choices,
    buttons: tags.flatMap((tag) => answers[tag]!.buttons ?? []),
    read: (input) => {
      for (const tag of tags) {
        const own: AnswerInput | undefined =
          input._tag === "Message"
            ? input
            : input.value.startsWith(`${tag}.`)
              ? { _tag: "Choice", value: input.value.slice(tag.length + 1) }
              : undefined
        const read = own === undefined ? undefined : answers[tag]!.read(own)
        if (read !== undefined) return Effect.map(read, (value) => ({ _tag: tag, value }))
      }
      return undefined
    },
    encode: (tagged) => {
      const { _tag, value } = tagged as { readonly _tag: string; readonly value: unknown }
      return Effect.map(answers[_tag]!.encode(value), (encoded) => [_tag, encoded])
    },
    decode: (stored) => {
      const [tag, value] = Array.isArray(stored) ? (stored as ReadonlyArray<Schema.Json>) : []
      if (typeof tag !== "string" || !Object.hasOwn(answers, tag)) return unknownTag
      return Effect.map(answers[tag]!.decode(value ?? null), (value) => ({ _tag: tag, value }))
    }
  }
}
