import { assert, describe, it } from "@effect/vitest"
import * as Text from "../../../src/model/Text.ts"

const html = (markdown: string, isPartial = false) => Text.toHtml(Text.fromMarkdown(markdown, { isPartial }))

describe("Text.fromMarkdown", () => {
  it.each([
    ["a **b** c", "a <b>b</b> c"],
    ["__b__ *i* _i_ ***x***", "<b>b</b> <i>i</i> <i>i</i> <b><i>x</i></b>"],
    ["**a*b** *a **b***", "<b>a*b</b> <i>a <b>b</b></i>"],
    ["~~s~~ ++u++ ^^h^^ a+b ~x~", "<s>s</s> <u>u</u> <mark>h</mark> a+b ~x~"],
    ["2 * 3 * 4, snake_case_name, a\\*b\\*", "2 * 3 * 4, snake_case_name, a*b*"],
    ["`x*y*` and `` a`b ``", "<code>x*y*</code> and <code>a`b</code>"],
    ["[a **b**](https://e.com/c_(d))", '<a href="https://e.com/c_(d)">a <b>b</b></a>'],
    [
      "![alt](https://e.com) <https://e.com>",
      '<a href="https://e.com">alt</a> <a href="https://e.com">https://e.com</a>'
    ],
    ["![no [no]( [x] `no **no", "![no [no]( [x] `no **no"],
    ["# H\ntext", "<h1>H</h1>\ntext"],
    ["> q **b\n> c**\nafter", "<blockquote>q <b>b\nc</b></blockquote>\nafter"],
    ["Here:\n```py\nx = **1**\n\n```\nAfter", "Here:\n<code>x = **1**\n</code>\nAfter"],
    ["- a **b\n- c**", "- a **b\n- c**"],
    ["a\r\nb", "a\nb"]
  ])("reads %j", (markdown, expected) => {
    assert.strictEqual(html(markdown), expected)
  })

  it.each([
    ["a **b", "a <b>b</b>"],
    ["a **b*", "a <b>b</b>"],
    ["**a _b", "<b>a <i>b</i></b>"],
    ["a *", "a "],
    ["a `co", "a <code>co</code>"],
    ["a `co``", "a <code>co</code>"],
    ["```py\ncode", "<code>code</code>"],
    ["x\n```\nco\n``", "x\n<code>co</code>"],
    ["```py", ""],
    ["see [t](https://e.c", "see t"],
    ["text\n#", "text"],
    ["> q **b", "<blockquote>q <b>b</b></blockquote>"],
    ["> q **b\n>", "<blockquote>q <b>b</b></blockquote>"],
    ["q **b\n`", "q <b>b</b>"],
    ["a*b = c", "a*b = c"],
    ["x \\", "x "]
  ])("closes what is open in the beginning %j", (markdown, expected) => {
    assert.strictEqual(html(markdown, true), expected)
  })

  it("reads a hostile text in reasonable time", () => {
    for (const part of ["*a ", "[", "`", "**", "> ", "[a](", "_a*b"]) {
      const markdown = part.repeat(3000)
      assert.isString(html(markdown))
      assert.isString(html(markdown, true))
    }
  })
})
