import { assert, describe, it } from "@effect/vitest"
import { parseHtml } from "../../../src/emulator/internal/text/html.ts"
import { parseMarkdown } from "../../../src/emulator/internal/text/markdown.ts"

const elements = (parsed: ReturnType<typeof parseHtml>): ReadonlyArray<ReadonlyArray<unknown>> =>
  parsed.markup.map(({ from, length, type, ...target }) => [
    type,
    parsed.text.slice(from, from + length),
    ...Object.values(target)
  ])

describe("parseMarkdown", () => {
  it("reads every kind of markup", () => {
    const parsed = parseMarkdown(
      "# Title\n> said *i* _i_ **b** __b__\n~~s~~ ++u++ `c` ^^h^^ [t](https://e.com/a_b) [Ann](max://user/42)"
    )
    assert.strictEqual(parsed.text, "Title\nsaid i i b b\ns u c h t Ann")
    assert.deepStrictEqual(elements(parsed), [
      ["heading", "Title"],
      ["quote", "said i i b b"],
      ["emphasized", "i"],
      ["emphasized", "i"],
      ["strong", "b"],
      ["strong", "b"],
      ["strikethrough", "s"],
      ["underline", "u"],
      ["monospaced", "c"],
      ["highlighted", "h"],
      ["link", "t", "https://e.com/a_b"],
      ["user_mention", "Ann", 42]
    ])
  })

  it("counts offsets in UTF-16 code units", () => {
    assert.deepStrictEqual(parseMarkdown("👋 **b**").markup, [{ type: "strong", from: 3, length: 1 }])
  })

  it("reads nested and touching emphasis as CommonMark does", () => {
    assert.deepStrictEqual(elements(parseMarkdown("***a** b*")), [
      ["emphasized", "a b"],
      ["strong", "a"]
    ])
    assert.deepStrictEqual(elements(parseMarkdown("**a *b***")), [
      ["strong", "a b"],
      ["emphasized", "b"]
    ])
    assert.deepStrictEqual(elements(parseMarkdown("*a***b**")), [
      ["emphasized", "a"],
      ["strong", "b"]
    ])
    assert.deepStrictEqual(elements(parseMarkdown("**[a](u)**")), [
      ["link", "a", "u"],
      ["strong", "a"]
    ])
    assert.deepStrictEqual(elements(parseMarkdown("[[a](b)](c)")), [["link", "a", "b"]])
  })

  for (const source of [
    "**a",
    "a**",
    "** a **",
    "*a",
    "snake_case_name",
    "2 * 3 * 4",
    "++a",
    "+++a+++",
    "~a~",
    "`a",
    "``a`",
    "^a^",
    "[a]",
    "[a](",
    "[a](b",
    "[a](b c)",
    "[a]()",
    "a](b)",
    "#a",
    "a > b",
    "\\a",
    'a**"b"**c'
  ]) {
    it(`does not change ${JSON.stringify(source)}`, () => {
      assert.deepStrictEqual(parseMarkdown(source), { text: source, markup: [] })
    })
  }

  it("reads an escaped character literally", () => {
    assert.deepStrictEqual(parseMarkdown("\\*a\\* \\[b](c) \\> \\\\ \\`d\\`"), {
      text: "*a* [b](c) > \\ `d`",
      markup: []
    })
  })

  it("reads everything inside code literally", () => {
    assert.deepStrictEqual(elements(parseMarkdown("`**a** \\` ``b`c``")), [
      ["monospaced", "**a** \\"],
      ["monospaced", "b`c"]
    ])
  })

  it("continues a quote over several lines, and ends it at a line without a marker", () => {
    const parsed = parseMarkdown("> a\n>\n> # b\nc")
    assert.strictEqual(parsed.text, "a\n\nb\nc")
    assert.deepStrictEqual(elements(parsed), [
      ["quote", "a\n\nb"],
      ["heading", "b"]
    ])
  })

  it("does not pair delimiters across a blank line", () => {
    assert.deepStrictEqual(parseMarkdown("**a\n\nb**"), { text: "**a\n\nb**", markup: [] })
    assert.deepStrictEqual(elements(parseMarkdown("**a\nb**")), [["strong", "a\nb"]])
  })
})

describe("parseHtml", () => {
  it("reads every kind of markup", () => {
    const parsed = parseHtml(
      "<h1>T</h1><blockquote>q</blockquote><i>1</i><em>2</em><b>3</b><strong>4</strong><del>5</del><s>6</s><ins>7</ins>" +
        "<u>8</u><pre>9</pre><code>10</code><mark>11</mark><a href=\"https://e.com/?a=1&amp;b\">12</a><A HREF='max://user/7'>13</A>"
    )
    assert.strictEqual(parsed.text, "Tq12345678910111213")
    assert.deepStrictEqual(elements(parsed), [
      ["heading", "T"],
      ["quote", "q"],
      ["emphasized", "1"],
      ["emphasized", "2"],
      ["strong", "3"],
      ["strong", "4"],
      ["strikethrough", "5"],
      ["strikethrough", "6"],
      ["underline", "7"],
      ["underline", "8"],
      ["monospaced", "9"],
      ["monospaced", "10"],
      ["highlighted", "11"],
      ["link", "12", "https://e.com/?a=1&b"],
      ["user_mention", "13", 7]
    ])
  })

  it("decodes entities once", () => {
    assert.strictEqual(parseHtml("&lt;b&gt; &amp;lt; &quot;&#39;&#x27;&apos; &#128075;").text, "<b> &lt; \"''' 👋")
  })

  for (const source of ["<b>a", "a</b>", "<b a", "a < b > c", "<>", "<a>b</a>", "&unknown; & &#0;"]) {
    it(`does not change ${JSON.stringify(source)}`, () => {
      assert.deepStrictEqual(parseHtml(source), { text: source, markup: [] })
    })
  }

  it("removes tags that the platform does not know, and keeps their text", () => {
    const source = '<div class="x">a <b>b <span>c</span></b></div><br/>d &lt;p&gt; <script>e</script>'
    const parsed = parseHtml(source)
    assert.strictEqual(parsed.text, "a b cd <p> e")
    assert.deepStrictEqual(elements(parsed), [["strong", "b c"]])
  })

  it("reads nested and overlapping elements", () => {
    assert.deepStrictEqual(elements(parseHtml("<b>a<i>b</b>c</i><pre><code>d</code></pre>")), [
      ["strong", "ab"],
      ["emphasized", "bc"],
      ["monospaced", "d"]
    ])
  })
})

describe("parseMarkdown and parseHtml", () => {
  const units = [
    "*",
    "**",
    "* ",
    "a*",
    "a**b",
    "*a_",
    "_",
    "`",
    "`a",
    "``a`",
    "[",
    "[a](",
    "[a](b",
    "[a](\\(",
    "]",
    "[]",
    "[a](b)",
    "~~",
    "++a",
    "^^a ",
    "> ",
    "# ",
    "\\",
    "\n",
    "<",
    "<b",
    "<b>",
    "</b>",
    "<b><i>",
    '<a href="',
    "<a href='<",
    "<a a ",
    "&",
    "&#",
    "&amp",
    "<a x=\"<a x='"
  ]
  for (const [name, parse] of [
    ["markdown", parseMarkdown],
    ["html", parseHtml]
  ] as const) {
    for (const unit of units) {
      // Quadratic time would exceed the time-out of the test.
      it(`parse long ${name} of ${JSON.stringify(unit)} in linear time`, () => {
        const source = unit.repeat(200_000 / unit.length)
        assert.isAtMost(parse(source).text.length, source.length)
      })
    }
  }
})
