/**
 * Formatted text as a value.
 *
 * A `Text` is a visible text and its formatting as spans, like the markup of a received message. {@link message}
 * renders a `Text` as HTML or markdown, and escapes everything that the platform would read as markup, so text from
 * users never becomes markup.
 *
 * **Example** (Greet a user whose name is not trusted)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const name = "<b>*Eve*"
 * const greeting = Text.t`Hello ${Text.bold(name)}, read ${Text.link("the rules", "https://example.com")}`
 *
 * Text.message(greeting).text
 *  // => "Hello <b>&lt;b&gt;*Eve*</b>, read <a href=\"https://example.com\">the rules</a>"
 * ```
 *
 * API: POST /messages.
 *
 * @since 0.1.0
 */
import { hasProperty } from "effect/Predicate"
import * as Html from "./internal/text/html.ts"
import * as Markdown from "./internal/text/markdown.ts"
import { parse } from "./internal/text/parse.ts"
import * as ReceivedMarkup from "./internal/text/markup.ts"
import * as Spans from "./internal/text/spans.ts"
import * as Split from "./internal/text/split.ts"
import type { Span } from "./Markup.ts"
import type { TextFormat } from "./NewMessage.ts"
import * as Platform from "../base/Platform.ts"

const TypeId = "~@colloquy/core/Text"

/**
 * Visible text and its formatting.
 *
 * @category models
 * @since 0.1.0
 */
export interface Text {
  readonly [TypeId]: typeof TypeId
  /** The visible text. */
  readonly text: string
  /** The formatting, sorted by position. Spans are never empty, and spans of the same format do not touch. */
  readonly spans: ReadonlyArray<Span>
}

/**
 * The input of the constructors: a `Text`, or a value that is plain text when converted to a string.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = Text | string | number | bigint

/**
 * Returns `true` if a value is a `Text`.
 *
 * **Example** (Check a value)
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

const make = (self: Spans.FormattedText): Text => ({ [TypeId]: TypeId, text: self.text, spans: self.spans })

const from = (input: Input): Text => (isText(input) ? input : plain(String(input)))

const formatted = (input: Input, format: ReceivedMarkup.Format): Text => {
  const self = from(input)
  return make(Spans.addSpan(self, { ...format, from: 0, to: self.text.length }))
}

/**
 * Creates a text without formatting. Line breaks become `\n`.
 *
 * The platform may still read an `@name` in the text as a mention, because a mention by name is not markup.
 *
 * **Example** (Special characters are escaped)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.plain("2 * 3 * 4"))
 *  // => "2 \\* 3 \\* 4"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const plain = (text: string): Text => make({ text: text.replace(/\r\n?/g, "\n"), spans: [] })

/**
 * The empty text.
 *
 * **Example** (Append to the empty text)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.concat(Text.empty, "a").text
 * // => "a"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty: Text = { [TypeId]: TypeId, text: "", spans: [] }

/**
 * Creates bold text.
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
export const bold = (input: Input): Text => formatted(input, { type: "strong" })

/**
 * Creates italic text. In markdown, italic text inside a word that touches bold text is rendered without italics, because
 * `***` would be ambiguous.
 *
 * **Example** (Italic text in markdown)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.italic("softly"))
 * // => "_softly_"
 * ```
 *
 * API: POST /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const italic = (input: Input): Text => formatted(input, { type: "emphasized" })

/**
 * Creates text that is struck through.
 *
 * **Example** (A reduced price)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.t`${Text.strikethrough("100")} 80`)
 * // => "~~100~~ 80"
 * ```
 *
 * API: POST /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const strikethrough = (input: Input): Text => formatted(input, { type: "strikethrough" })

/**
 * Creates underlined text.
 *
 * **Example** (Underlined text in markdown)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.underline("read this"))
 * // => "++read this++"
 * ```
 *
 * API: POST /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const underline = (input: Input): Text => formatted(input, { type: "underline" })

/**
 * Creates text with a colored background.
 *
 * **Example** (Highlighted text in HTML)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toHtml(Text.highlighted("new"))
 * // => "<mark>new</mark>"
 * ```
 *
 * API: POST /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const highlighted = (input: Input): Text => formatted(input, { type: "highlighted" })

/**
 * Creates monospaced text, such as code. In markdown, a backtick in the text is rendered as plain text between two
 * monospaced parts.
 *
 * **Example** (A command)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.t`Run ${Text.monospaced("npm *test*")}`)
 *  // => "Run `npm *test*`"
 * ```
 *
 * API: POST /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const monospaced = (input: Input): Text => formatted(input, { type: "monospaced" })

/**
 * Creates a quote. A quote is a block: {@link concat} adds the line breaks that are missing before and after it.
 *
 * **Example** (A quote between two lines)
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
export const quote = (input: Input): Text => formatted(input, { type: "quote" })

/**
 * Creates a heading. A heading is a block: {@link concat} adds the line breaks that are missing before and after it.
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
 * API: POST /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const heading = (input: Input): Text => formatted(input, { type: "heading" })

/**
 * Creates a hyperlink. Characters that a URL cannot contain are percent-encoded. With an empty `url`, the text is
 * returned without a link. Links do not nest: inside another link, the inner link is kept. Comments do not support
 * links.
 *
 * **Example** (A link)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.link("docs", "https://example.com/a b"))
 *  // => "[docs](https://example.com/a%20b)"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const link = (input: Input, url: string): Text => {
  const format = ReceivedMarkup.linkFormat(url)
  return format === undefined ? from(input) : formatted(input, format)
}

/**
 * Creates a mention of a user: by username as the plain text `@username`, or by ID as a link with the given name as its
 * text. Comments do not support mentions.
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
  typeof user === "string" ? plain(`@${user.replace(/^@/, "")}`) : formatted(name, ReceivedMarkup.mentionFormat(user))

/**
 * Concatenates texts. A quote or a heading gets the line breaks that are missing before and after it.
 *
 * **Example** (Concatenate texts and numbers)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.concat("a", Text.bold("b"), 3).text
 *  // => "ab3"
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const concat = (...inputs: ReadonlyArray<Input>): Text => make(Spans.concat(inputs.map(from)))

/**
 * Joins texts with a separator.
 *
 * **Example** (A list with commas)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toHtml(Text.join(["a", Text.bold("b")], ", "))
 * // => "a, <b>b</b>"
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const join = (inputs: Iterable<Input>, separator: Input): Text =>
  concat(...Array.from(inputs).flatMap((input, i) => (i === 0 ? [input] : [separator, input])))

/**
 * Creates a text from a template. An interpolated `Text` keeps its formatting; any other value is plain text.
 *
 * **Example** (A name with markup in it)
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
 * A received text with its markup: the part of a `MessageBody` that {@link fromBody} reads.
 *
 * API: MessageBody, MarkupElement.
 *
 * @category models
 * @since 0.1.0
 */
export interface Body {
  /** The visible text. */
  readonly text?: string | null | undefined
  /** The markup elements, in any order. Elements may overlap. */
  readonly markup?:
    | ReadonlyArray<{
        /** The type of the formatting. An element of an unknown type is ignored. */
        readonly type: string
        /** Index of the first UTF-16 code unit. Default: 0. */
        readonly from?: number | undefined
        /** Number of UTF-16 code units. Default: 0, and then the element is ignored. */
        readonly length?: number | undefined
        /** The URL of a link. */
        readonly url?: string | null | undefined
        /** The ID of a mentioned user. */
        readonly user_id?: number | null | undefined
      }>
    | null
    | undefined
}

/**
 * Creates a text from a received message, for example to send it on with an addition. The visible text is unchanged.
 *
 * Markup elements of an unknown type, outside the text, or without the URL of a link or the ID of a mentioned user are
 * ignored. Quotes and headings are widened to whole lines.
 *
 * **Example** (Quote a received text)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const body = { text: "so loud", markup: [{ type: "strong", from: 3, length: 4 }] }
 * Text.toHtml(Text.quote(Text.fromBody(body)))
 * // => "<blockquote>so <b>loud</b></blockquote>"
 * ```
 *
 * API: MessageBody.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromBody = (body: Body): Text => make(ReceivedMarkup.fromMarkup(body.text ?? "", body.markup ?? []))

/**
 * Options of {@link fromMarkdown}.
 *
 * @category options
 * @since 0.1.0
 */
export interface FromMarkdownOptions {
  /**
   * Whether the source is the beginning of a longer text. Formatting that is open at the end is then closed, and a delimiter at
   * the end, whose meaning is not known yet, is left out. Default: `false`.
   */
  readonly isPartial?: boolean | undefined
}

/**
 * Reads markdown, such as the answer of a language model. Reading never fails, because text without a meaning in markdown
 * is plain text.
 *
 * The markup of the platform is read: `**bold**`, `_italic_`, `~~strikethrough~~`, `++underline++`, `^^highlight^^`,
 * `` `code` ``, `[link](url)`, `> quote`, `# heading`. So is common markup of language models: blocks of code between lines
 * of three backticks, images as links, and `<https://example.com>`. Lists, tables and rules are kept as text.
 *
 * **Example** (Markdown that is not complete)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toHtml(Text.fromMarkdown("The **answer is 4", { isPartial: true }))
 *  // => "The <b>answer is 4</b>"
 * ```
 *
 * API: POST /messages.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromMarkdown = (markdown: string, options?: FromMarkdownOptions): Text =>
  make(parse(markdown.replace(/\r\n?/g, "\n"), options?.isPartial ?? false))

/**
 * Renders the text as HTML. No formatting is lost.
 *
 * **Example** (Special characters are escaped)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toHtml(Text.t`<${Text.bold("a & b")}>`)
 * // => "&lt;<b>a &amp; b</b>&gt;"
 * ```
 *
 * API: POST /messages.
 *
 * @category rendering
 * @since 0.1.0
 */
export const toHtml = (self: Text): string => Html.render(self)

/**
 * Renders the text as markdown. Formatting that markdown cannot express is rendered as plain text:
 *
 * - Formatting is narrowed so that it does not begin or end at white space, or at punctuation inside a word.
 * - Formatting over a line break is closed before the line break and opened again after the line break.
 * - Of nested formatting that begins or ends inside a word, only the innermost is kept.
 * - A backtick in monospaced text is rendered beside the monospaced text.
 *
 * **Example** (Special characters are escaped)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * Text.toMarkdown(Text.t`*${Text.bold("a_b")}*`)
 *  // => "\\***a\\_b**\\*"
 * ```
 *
 * API: POST /messages.
 *
 * @category rendering
 * @since 0.1.0
 */
export const toMarkdown = (self: Text): string => Markdown.render(self)

/**
 * Options of {@link message}.
 *
 * @category options
 * @since 0.1.0
 */
export interface MessageOptions {
  /** The markup language. Default: `html`, in which no formatting is lost. */
  readonly format?: TextFormat | undefined
}

/**
 * Renders the text as the fields `text` and `format` of a message, to be spread into a request. The platform accepts at most
 * 4000 characters: {@link split} a longer text first.
 *
 * **Example** (A request with formatted text)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const request = { chat_id: 1, ...Text.message(Text.bold("Done")) }
 * request
 * // => { chat_id: 1, text: "<b>Done</b>", format: "html" }
 * ```
 *
 * API: POST /messages.
 *
 * @category rendering
 * @since 0.1.0
 */
export const message = (
  self: Text,
  options?: MessageOptions
): { readonly text: string; readonly format: TextFormat } => {
  const format = options?.format ?? "html"
  return { text: format === "html" ? toHtml(self) : toMarkdown(self), format }
}

/**
 * Options of {@link split}.
 *
 * @category options
 * @since 0.1.0
 */
export interface SplitOptions {
  /**
   * Maximum length of a part in UTF-16 code units, markup included. At least 16. Default: `Platform.maxTextLength`, 4000.
   */
  readonly limit?: number | undefined
  /** The markup language that the parts will be rendered in. Default: `html`. */
  readonly format?: TextFormat | undefined
}

/**
 * Splits a text into parts that can each be sent as a message.
 *
 * - A part ends at a paragraph, a line or a word, in this order of preference, if the part is then at least half full.
 *   A part never ends inside a grapheme (a character as users see it), unless the grapheme alone exceeds the limit.
 * - Formatting that is split continues in the next part.
 * - White space at the end of a part is dropped; the indentation of the next line is kept. No part is blank.
 * - A link whose URL takes more than half of the limit becomes plain text.
 *
 * **Example** (Split a long answer)
 *
 * ```ts
 * import { Text } from "@colloquy/core"
 *
 * const parts = Text.split(Text.bold("one two three four"), { limit: 20 })
 * parts.map(Text.toHtml)
 *  // => ["<b>one two three</b>", "<b>four</b>"]
 * ```
 *
 * API: POST /messages.
 *
 * @assumption markupLength
 * @category rendering
 * @since 0.1.0
 */
export const split = (self: Text, options?: SplitOptions): ReadonlyArray<Text> => {
  const render = options?.format === "markdown" ? Markdown.render : Html.render
  const limit = options?.limit
  return Split.split(self, {
    limit: limit === undefined || Number.isNaN(limit) ? Platform.maxTextLength : limit,
    render
  }).map(make)
}
