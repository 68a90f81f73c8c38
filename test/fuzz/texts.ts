/** Texts that people write: payloads of buttons and deep links, and markup. */
import { DeepLink, Handler, Payload, Text } from "@colloquy/core"
import { Fixtures } from "@colloquy/testing"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { parseHtml } from "../../packages/testing/src/emulator/internal/text/html.ts"
import { parseMarkdown } from "../../packages/testing/src/emulator/internal/text/markdown.ts"
import { fragments, mutations } from "./mutation.ts"
import type { Target } from "./target.ts"

interface Tree {
  readonly children: ReadonlyArray<Tree>
}

const Tree: Schema.Codec<Tree> = Schema.Struct({
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
})

const Vote = Schema.Struct({
  poll: Schema.Int,
  choice: Schema.Literals(["yes", "no"]),
  at: Schema.optionalKey(Schema.Date),
  seq: Schema.optionalKey(Schema.BigInt)
})

const schemas = { vote: Vote, tree: Tree, json: Schema.Json, text: Schema.String, any: Schema.Unknown }

const values = [
  `{"poll":7,"choice":"yes","at":"2026-01-01T00:00:00Z","seq":"116328127605864690"}`,
  `{"children":[{"children":[]},{"children":[{"children":[]}]}]}`,
  `"text"`
]

const buttons = Object.entries(schemas).map(([name, schema]) => Payload.make(name, schema as Schema.Codec<unknown>))

const links = Object.entries(schemas).map(([name, schema]) => DeepLink.make(name, schema as Schema.Codec<unknown>))

const buttonHandler = Handler.first(...buttons.map((button) => button.on(() => Effect.void)))

const linkHandler = Handler.first(...links.map((link) => link.on(() => Effect.void)))

export const payloads: Target = {
  name: "payloads of buttons",
  input: mutations(values),
  start: Effect.succeed({
    take: (json) =>
      Effect.forEach([json, ...Object.keys(schemas).map((name) => `${name}:${json}`)], (payload) =>
        Effect.match(Handler.run(buttonHandler, Fixtures.messageCallback({ payload })), {
          onFailure: String,
          onSuccess: String
        })
      )
  })
}

const base64 = (text: string) => Buffer.from(text).toString("base64url")

export const deepLinks: Target = {
  name: "payloads of deep links",
  input: mutations(values),
  start: Effect.succeed({
    take: (json) =>
      Effect.forEach(
        [
          json,
          ...Object.keys(schemas).flatMap((name) => [
            `${name}-${json}`,
            `${name}-${base64(json)}`,
            `${name}_${base64(json)}`
          ])
        ],
        (payload) =>
          Effect.match(Handler.run(linkHandler, Fixtures.botStarted({ payload })), {
            onFailure: String,
            onSuccess: String
          })
      )
  })
}

const markdownPieces = [
  "*",
  "**",
  "***",
  "_",
  "__",
  "`",
  "```",
  "~~",
  "++",
  "^^",
  "[",
  "](",
  ")",
  "[a](b)",
  "\\",
  ">",
  "> ",
  "#",
  "# ",
  "\n",
  "\n\n",
  " ",
  "a",
  "слово ",
  "🙂",
  "👩‍👩‍👧‍👦",
  "é",
  "![",
  "<",
  "&",
  "max://user/1",
  "https://a.example",
  "()",
  "[[",
  "]]",
  "**a",
  "_a_",
  "a*b"
]

const markdown = fragments(markdownPieces)

const htmlPieces = [
  "<b>",
  "</b>",
  "<i>",
  "</i>",
  "<u>",
  "<s>",
  '<a href="',
  '">',
  "<a href='x'>",
  "</a>",
  "<pre>",
  "</code>",
  "<mark>",
  "<blockquote>",
  "</blockquote>",
  "<h1>",
  "</h1>",
  "<",
  ">",
  "&amp;",
  "&#",
  "&#x41;",
  "&#99999999999;",
  "&",
  '"',
  "'",
  "<!--",
  "<b ",
  "<br>",
  "</",
  "a",
  "слово ",
  "\n",
  "🙂",
  "<script>",
  "<b<b",
  "= ",
  "\u0000"
]

const html = fragments(htmlPieces)

type Parse = (text: string) => { readonly text: string; readonly markup: ReadonlyArray<object> }

/** How long each operation on a text of a million characters may take, in milliseconds of the processor. */
const maxOperation = 1000

/** Runs an operation. Throws if it takes too long twice, because other programs may have taken the processor. */
const timed = <A>(name: string, operation: () => A): A => {
  const measure = () => {
    const start = process.threadCpuUsage()
    const value = operation()
    const { system, user } = process.threadCpuUsage(start)
    return { value, millis: (user + system) / 1000 }
  }
  const first = measure()
  if (first.millis <= maxOperation) return first.value
  const { millis, value } = measure()
  if (millis > maxOperation) throw new Error(`${name} took ${Math.round(millis)} ms, and may take ${maxOperation} ms`)
  return value
}

const parsed = (parse: Parse, text: string): Text.Text =>
  Text.fromBody(timed("parsing", () => parse(text)) as Text.Body)

/** Parses a text, and renders the result as the client does. */
const roundTrip = (parse: Parse) => (text: string) =>
  Effect.sync(() => {
    const received = parsed(parse, text)
    timed("Text.toHtml", () => Text.toHtml(received))
    timed("Text.toMarkdown", () => Text.toMarkdown(received))
    return []
  })

/** Parses a text, and splits the result in both formats. */
const splitting = (parse: Parse) => (text: string) =>
  Effect.sync(() => {
    const received = parsed(parse, text)
    for (const format of ["html", "markdown"] as const) {
      const parts = timed(`Text.split in ${format}`, () => Text.split(received, { format }))
      const tooLong = parts.find((part) => Text.message(part, { format }).text.length > 4000)
      if (tooLong !== undefined) throw new Error(`a part has more than 4000 characters in ${format}`)
    }
    return []
  })

const target = (
  name: string,
  input: Arbitrary.Arbitrary<string>,
  take: (text: string) => Effect.Effect<ReadonlyArray<string>>
): Target => ({
  name,
  input,
  // All operations together. Each one has a maximum of its own.
  maxMillis: 10 * maxOperation,
  share: 0.1,
  start: Effect.succeed({ take })
})

const Markup = Schema.Array(
  Schema.Struct({
    type: Schema.Literals(["strong", "emphasized", "quote", "heading", "link", "user_mention", "monospaced", "comet"]),
    from: Schema.Int,
    length: Schema.Int,
    url: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
)

const bodies = Arbitrary.map(
  Arbitrary.all({
    text: markdown,
    markup: Arbitrary.schema(Markup),
    scale: Arbitrary.schema(Schema.Int)
  }),
  ({ markup, scale, text }) =>
    JSON.stringify({
      text,
      markup: markup.map((each) => ({
        ...each,
        from: each.from * (scale % 1000),
        length: each.length * (scale % 1000)
      }))
    })
)

export const markups: ReadonlyArray<Target> = [
  target("markdown", markdown, roundTrip(parseMarkdown)),
  target("HTML", html, roundTrip(parseHtml)),
  target("split markdown", markdown, splitting(parseMarkdown)),
  target("split HTML", html, splitting(parseHtml)),
  target("received markup", bodies, (body) => splitting(() => JSON.parse(body) as never)(body))
]
