import type { MarkupElement } from "@colloquy/core/model/Markup"
import type { VNode } from "preact"
import { nameOf } from "../store.ts"
import { safeUrl } from "./format.ts"
import { nest } from "./spans.ts"

const wrap = (element: MarkupElement, key: string, children: ReadonlyArray<VNode | string>): VNode => {
  switch (element.type) {
    case "strong":
      return <strong key={key}>{children}</strong>
    case "emphasized":
      return <em key={key}>{children}</em>
    case "strikethrough":
      return <s key={key}>{children}</s>
    case "underline":
      return <u key={key}>{children}</u>
    case "monospaced":
      return <code key={key}>{children}</code>
    case "highlighted":
      return <mark key={key}>{children}</mark>
    case "quote":
      return (
        <span key={key} class="quote">
          {children}
        </span>
      )
    case "heading":
      return (
        <span key={key} class="heading">
          {children}
        </span>
      )
    case "link": {
      const href = safeUrl(element.url)
      return href === undefined ? (
        <span key={key} class="dead-link" title="This link is not opened: it is not a web address">
          {children}
        </span>
      ) : (
        <a key={key} href={href} title={href} target="_blank" rel="noopener noreferrer">
          {children}
        </a>
      )
    }
    case "user_mention":
      return (
        <span key={key} class="mention" title={nameOf(element.user_id ?? undefined)}>
          {children}
        </span>
      )
    default:
      return <span key={key}>{children}</span>
  }
}

/** A text with its markup, as text nodes. */
export const Marked = ({
  markup,
  text
}: {
  readonly text: string
  readonly markup: ReadonlyArray<MarkupElement> | null | undefined
}) => <bdi class="text">{nest<VNode | string>(text, markup, (leaf) => leaf, wrap)}</bdi>
