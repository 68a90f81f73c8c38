/**
 * Formatted text as a value.
 *
 * A `Text` is the visible text plus the spans that format it, which is also how a received message carries its markup. It
 * is written as HTML or markdown only at the end, and everything that a person typed stays what it is: it is escaped
 * wherever the chosen syntax would read it.
 *
 * **Example** (Greeting somebody whose name is not trusted)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const name = "<b>*Eve*"
 * const greeting = Text.t`Hello ${Text.bold(name)}, read ${Text.link("the rules", "https://example.com")}`
 *
 * Text.message(greeting).text
 * // => "Hello <b>&lt;b&gt;*Eve*</b>, read <a href=\"https://example.com\">the rules</a>"
 * ```
 *
 * API: POST /messages
 *
 * @since 0.1.0
 */
import { hasProperty } from "effect/Predicate"
import * as Html from "./internal/text/html.ts"
import * as Markdown from "./internal/text/markdown.ts"
import * as Spans from "./internal/text/spans.ts"
import * as Split from "./internal/text/split.ts"
import * as Platform from "./Platform.ts"

const TypeId = "~@colloquy/core/Text"

/**
 * The address that makes a link a mention of the user whose id follows. The API document does not say how a mention is
 * written, so this is an assumption.
 *
 * API: MarkupElement
 *
 * @category assumptions
 * @since 0.1.0
 */
export const mentionScheme = "max://user/"

/**
 * The longest text of a message or a comment, in UTF-16 code units. The API document does not say whether markup counts;
 * {@link split} takes it that it does.
 *
 * API: POST /messages
 *
 * @category limits
 * @since 0.1.0
 */
export const maxLength = Platform.maxTextLength

/**
 * One kind of formatting, by its name on the wire.
 *
 * API: MarkupElement
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = Spans.Kind

/**
 * Formatting of the code units from `from` (included) to `to` (excluded).
 *
 * @category models
 * @since 0.1.0
 */
export type Span = Spans.Span

/**
 * Visible text and its formatting. Spans are sorted, never empty, and those of one kind do not touch.
 *
 * @category models
 * @since 0.1.0
 */
export interface Text {
  readonly [TypeId]: typeof TypeId
  readonly text: string
  readonly spans: ReadonlyArray<Span>
}

/**
 * What the constructors accept: a text, or anything that is plain text when written.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = Text | string | number | bigint

/**
 * The syntax a text is written in.
 *
 * API: TextFormat
 *
 * @category models
 * @since 0.1.0
 */
export type Format = "markdown" | "html"

/**
 * Whether a value is a `Text`.
 *
 * **Example** (Telling a text from a string)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.isText(Text.bold("a"))
 * // => true
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isText = (u: unknown): u is Text => hasProperty(u, TypeId)

const make = (self: Spans.Spanned): Text => ({ [TypeId]: TypeId, text: self.text, spans: self.spans })

const from = (input: Input): Text => (isText(input) ? input : plain(String(input)))

const marked = (kind: Kind, input: Input, target?: { readonly url: string; readonly user_id?: number }): Text => {
  const self = from(input)
  return make(Spans.mark(self, { kind, from: 0, to: self.text.length, ...target }))
}

/**
 * Text without formatting. Line endings become `\n`.
 *
 * An `@name` in it can still be read as a mention by the platform, because that is not markup.
 *
 * **Example** (Nothing in it is read as markup)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.plain("2 * 3 * 4"))
 * // => "2 \\* 3 \\* 4"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const plain = (text: string): Text => make({ text: text.replace(/\r\n?/g, "\n"), spans: [] })

/**
 * Text of no length.
 *
 * **Example** (Nothing)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toPlain(Text.concat(Text.empty, "a"))
 * // => "a"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty: Text = { [TypeId]: TypeId, text: "", spans: [] }

/**
 * Bold text.
 *
 * **Example** (Bold inside italic)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toHtml(Text.italic(Text.concat("very ", Text.bold("loud"))))
 * // => "<i>very <b>loud</b></i>"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const bold = (input: Input): Text => marked("strong", input)

/**
 * Italic text. In markdown, italics inside a word that touch bold text are written without italics, because `***` cannot
 * be told apart there.
 *
 * **Example** (Both syntaxes)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.italic("softly"))
 * // => "_softly_"
 * ```
 *
 * API: POST /messages
 *
 * @category constructors
 * @since 0.1.0
 */
export const italic = (input: Input): Text => marked("emphasized", input)

/**
 * Text that is struck through.
 *
 * **Example** (A price)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.t`${Text.strikethrough("100")} 80`)
 * // => "~~100~~ 80"
 * ```
 *
 * API: POST /messages
 *
 * @category constructors
 * @since 0.1.0
 */
export const strikethrough = (input: Input): Text => marked("strikethrough", input)

/**
 * Underlined text.
 *
 * **Example** (Underlined)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.underline("read this"))
 * // => "++read this++"
 * ```
 *
 * API: POST /messages
 *
 * @category constructors
 * @since 0.1.0
 */
export const underline = (input: Input): Text => marked("underline", input)

/**
 * Text with a coloured background.
 *
 * **Example** (Highlighted)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toHtml(Text.highlighted("new"))
 * // => "<mark>new</mark>"
 * ```
 *
 * API: POST /messages
 *
 * @category constructors
 * @since 0.1.0
 */
export const highlighted = (input: Input): Text => marked("highlighted", input)

/**
 * Monospaced text, such as code. In markdown a backtick inside it is written beside the code, as plain text.
 *
 * **Example** (A command)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.t`Run ${Text.monospaced("npm *test*")}`)
 * // => "Run `npm *test*`"
 * ```
 *
 * API: POST /messages
 *
 * @category constructors
 * @since 0.1.0
 */
export const monospaced = (input: Input): Text => marked("monospaced", input)

/**
 * A quote. It is a block: it stands on lines of its own, and {@link concat} adds the line breaks that are missing.
 *
 * **Example** (Answering a quote)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.concat("Ann said", Text.quote("hello"), "and left"))
 * // => "Ann said\n> hello\nand left"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const quote = (input: Input): Text => marked("quote", input)

/**
 * A heading. It is a block: it stands on lines of its own, and {@link concat} adds the line breaks that are missing.
 *
 * **Example** (A title over a text)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.concat(Text.heading("News"), "Nothing."))
 * // => "# News\nNothing."
 * ```
 *
 * API: POST /messages
 *
 * @category constructors
 * @since 0.1.0
 */
export const heading = (input: Input): Text => marked("heading", input)

// Characters that no URL may hold: they would end it, or the markup around it.
const toUrl = (url: string): string =>
  url.toWellFormed().replace(/[\s\p{Cc}"<>\\^`{|}]/gu, (char) => encodeURIComponent(char))

/**
 * A hyperlink. Links do not nest: the innermost one counts. Characters that a URL cannot hold are percent-encoded, in
 * markdown parentheses too; an empty `url` leaves plain text. Comments do not support links.
 *
 * **Example** (A link)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.link("docs", "https://example.com/a b"))
 * // => "[docs](https://example.com/a%20b)"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const link = (input: Input, url: string): Text => {
  const href = toUrl(url.trim())
  if (href === "") return from(input)
  const id = href.startsWith(mentionScheme) ? href.slice(mentionScheme.length) : ""
  return /^\d+$/.test(id) && Number.isSafeInteger(Number(id))
    ? mention(Number(id), input)
    : marked("link", input, { url: href })
}

/**
 * A mention of a user: by username it is `@username`, by id it is a link on the name that you give. Comments do not
 * support mentions.
 *
 * **Example** (Both kinds of mention)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const text = Text.t`${Text.mention("ann")} and ${Text.mention(42, "Bob")}`
 * Text.toHtml(text)
 * // => "@ann and <a href=\"max://user/42\">Bob</a>"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const mention: {
  (username: string): Text
  (user_id: number, name: Input): Text
} = (user: string | number, name: Input = ""): Text =>
  typeof user === "string"
    ? plain(`@${user.replace(/^@/, "")}`)
    : marked("user_mention", name, { url: `${mentionScheme}${user}`, user_id: user })

/**
 * Puts texts one after the other. A quote or a heading gets a line break before and after it where there is none.
 *
 * **Example** (Joining pieces)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toPlain(Text.concat("a", Text.bold("b"), 3))
 * // => "ab3"
 * ```
 *
 * @category combining
 * @since 0.1.0
 */
export const concat = (...inputs: ReadonlyArray<Input>): Text => make(Spans.concat(inputs.map(from)))

/**
 * Puts a separator between texts.
 *
 * **Example** (A list)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toHtml(Text.join(["a", Text.bold("b")], ", "))
 * // => "a, <b>b</b>"
 * ```
 *
 * @category combining
 * @since 0.1.0
 */
export const join = (inputs: Iterable<Input>, separator: Input): Text =>
  concat(...Array.from(inputs).flatMap((input, i) => (i === 0 ? [input] : [separator, input])))

/**
 * Puts every text on a line of its own.
 *
 * **Example** (Two lines)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toPlain(Text.lines(["a", Text.bold("b")]))
 * // => "a\nb"
 * ```
 *
 * @category combining
 * @since 0.1.0
 */
export const lines = (inputs: Iterable<Input>): Text => join(inputs, "\n")

/**
 * A template: what is interpolated is a `Text`, or plain text that no markup can be injected with.
 *
 * **Example** (A name that tries to be bold)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const name = "**Eve**"
 * Text.toMarkdown(Text.t`Hello ${name}`)
 * // => "Hello \\*\\*Eve\\*\\*"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const t = (strings: TemplateStringsArray, ...inputs: ReadonlyArray<Input>): Text =>
  concat(...strings.flatMap((string, i) => (i < inputs.length ? [string, inputs[i]] : [string])))

/**
 * Received text with its markup, as far as {@link fromBody} reads it.
 *
 * API: MessageBody, MarkupElement
 *
 * @category models
 * @since 0.1.0
 */
export interface Body {
  readonly text?: string | null | undefined
  readonly markup?:
    | ReadonlyArray<{
        readonly type: string
        readonly from?: number | undefined
        readonly length?: number | undefined
        readonly url?: string | null | undefined
        readonly user_id?: number | null | undefined
      }>
    | null
    | undefined
}

const inlineKinds: ReadonlySet<string> = new Set<Kind>([
  "strong",
  "emphasized",
  "strikethrough",
  "underline",
  "highlighted",
  "monospaced"
])

const splitsPair = (text: string, index: number): boolean =>
  index > 0 && index < text.length && text.codePointAt(index - 1)! > 0xffff

/**
 * Rebuilds the text of a received message, for example to send it on with something added.
 *
 * Elements may overlap. Unknown kinds, elements outside the text and links without a URL are left out; a mention without
 * a `user_id` stays plain text. Quotes and headings are widened to whole lines. The visible text stays exactly the same.
 *
 * **Example** (Quoting what was received)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const body = { text: "so loud", markup: [{ type: "strong", from: 3, length: 4 }] }
 * Text.toHtml(Text.quote(Text.fromBody(body)))
 * // => "<blockquote>so <b>loud</b></blockquote>"
 * ```
 *
 * API: MessageBody
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromBody = (body: Body): Text => {
  const text = body.text ?? ""
  let out: Spans.Spanned = { text, spans: [] }
  const spans: Array<Span> = []
  for (const element of body.markup ?? []) {
    const start = element.from ?? 0
    const end = start + (element.length ?? 0)
    if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end)) continue
    const inText = (index: number) => Math.min(Math.max(index, 0), text.length)
    let [from, to] = [inText(start), inText(end)]
    if (from >= to) continue
    if (splitsPair(text, from)) from--
    if (splitsPair(text, to)) to++
    if (inlineKinds.has(element.type)) spans.push({ kind: element.type as Kind, from, to })
    if (element.type === "quote" || element.type === "heading") {
      const lineEnd = text[to - 1] === "\n" ? to : text.indexOf("\n", to)
      spans.push({
        kind: element.type,
        from: from === 0 ? 0 : text.lastIndexOf("\n", from - 1) + 1,
        to: lineEnd < 0 ? text.length : lineEnd
      })
    }
    const target =
      element.type === "user_mention" && typeof element.user_id === "number"
        ? mention(element.user_id, text.slice(from, to))
        : element.type === "link" && typeof element.url === "string"
          ? link(text.slice(from, to), element.url)
          : empty
    for (const { kind, url, user_id } of target.spans.slice(0, 1)) {
      out = Spans.mark(out, {
        kind,
        from,
        to,
        ...(url !== undefined && { url }),
        ...(user_id !== undefined && { user_id })
      })
    }
  }
  return make({ text, spans: Spans.normalize([...out.spans, ...spans]) })
}

/**
 * The visible text.
 *
 * **Example** (Without formatting)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toPlain(Text.t`Hello ${Text.bold("Ann")}`)
 * // => "Hello Ann"
 * ```
 *
 * API: POST /messages
 *
 * @category interpreters
 * @since 0.1.0
 */
export const toPlain = (self: Text): string => self.text

/**
 * The length of the visible text in UTF-16 code units, the unit in which the platform counts markup. The markup of the
 * written text comes on top: see {@link split}.
 *
 * **Example** (An emoji counts as two)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.length(Text.bold("a👋"))
 * // => 3
 * ```
 *
 * API: POST /messages
 *
 * @category interpreters
 * @since 0.1.0
 */
export const length = (self: Text): number => self.text.length

/**
 * Writes HTML. Every formatting comes out exactly.
 *
 * **Example** (Untrusted input)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toHtml(Text.t`<${Text.bold("a & b")}>`)
 * // => "&lt;<b>a &amp; b</b>&gt;"
 * ```
 *
 * API: POST /messages
 *
 * @category interpreters
 * @since 0.1.0
 */
export const toHtml = (self: Text): string => Html.render(self)

/**
 * Writes markdown. Input never becomes markup, but markdown cannot say everything, and then formatting is lost, never
 * text: it does not begin or end at white space, a punctuation mark inside a word, or a line break (it is closed before
 * the break and opened again after it); nested formatting cannot begin or end inside a word, where only the innermost
 * stays; code has no backtick.
 *
 * Special characters are escaped with a backslash as in CommonMark, and a line without `>` ends a quote; the API document
 * does not say so, which makes both assumptions.
 *
 * **Example** (Untrusted input)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.t`*${Text.bold("a_b")}*`)
 * // => "\\***a\\_b**\\*"
 * ```
 *
 * API: POST /messages
 *
 * @category interpreters
 * @since 0.1.0
 */
export const toMarkdown = (self: Text): string => Markdown.render(self)

/**
 * The part of a send request that carries the text, to be spread into it.
 *
 * The default is `html`: its escapes are standard and its elements can begin and end anywhere, so nothing is lost. The
 * text must be at most 4000 characters: see {@link split}.
 *
 * **Example** (A request)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const request = { chat_id: 1, ...Text.message(Text.bold("Done")) }
 * request
 * // => { chat_id: 1, text: "<b>Done</b>", format: "html" }
 * ```
 *
 * API: POST /messages
 *
 * @category interpreters
 * @since 0.1.0
 */
export const message = (
  self: Text,
  options?: { readonly format?: Format | undefined }
): { readonly text: string; readonly format: Format } => {
  const format = options?.format ?? "html"
  return { text: format === "html" ? toHtml(self) : toMarkdown(self), format }
}

/**
 * Cuts a text into parts that can each be sent: written in `format`, each is at most `limit` UTF-16 code units long,
 * markup included. The limit of the platform may mean the visible text only; then parts are a little shorter than needed.
 *
 * Formatting that is cut goes on in the next part. A cut is made between paragraphs, else lines, else words, where that
 * leaves the part at least half full, and never inside what is seen as one character unless that alone is too long. White
 * space at a cut is dropped, except the indentation of a line; no part is blank. A link whose address takes more than half
 * of the limit stays plain text. Limits under 16 count as 16.
 *
 * **Example** (A long answer)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const parts = Text.split(Text.bold("one two three four"), { limit: 20 })
 * parts.map(Text.toHtml)
 * // => ["<b>one two three</b>", "<b>four</b>"]
 * ```
 *
 * API: POST /messages
 *
 * @category interpreters
 * @since 0.1.0
 */
export const split = (
  self: Text,
  options?: { readonly limit?: number | undefined; readonly format?: Format | undefined }
): ReadonlyArray<Text> => {
  const render = options?.format === "markdown" ? Markdown.render : Html.render
  const limit = Number.isNaN(options?.limit) ? maxLength : (options?.limit ?? maxLength)
  return Split.split(self, { limit, render }).map(make)
}
