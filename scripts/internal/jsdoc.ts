import type { File } from "./workspace.ts"

export interface Comment {
  readonly file: string
  /** The 1-based line of `lines[0]` in the file. */
  readonly line: number
  readonly lines: ReadonlyArray<string>
  /** The first characters of the code that follows the comment. */
  readonly before: string
  /** The offset of that code in the file. */
  readonly codeAt: number
}

const block = /\/\*\*([\s\S]*?)\*\//g

/** The JSDoc comments of a file, without asterisks. */
export const comments = (file: File): ReadonlyArray<Comment> =>
  [...file.text.matchAll(block)].map((match) => {
    const end = match.index + match[0].length
    const codeAt = end + (/^\s*/.exec(file.text.slice(end))?.[0].length ?? 0)
    return {
      file: file.path,
      line: file.text.slice(0, match.index).split("\n").length,
      lines: match[1].split("\n").map((line) => line.replace(/^\s*\* ?/, "").trimEnd()),
      before: file.text.slice(codeAt, codeAt + 400),
      codeAt
    }
  })

const declared = /^(?:export\s+)?(?:declare\s+)?(?:const|class|interface|type|function|namespace)\s+(\w+)/
const listed = /^export\s*\{|^(?:override\s+|static\s+|readonly\s+|get\s+)*"?(\w+)"?/

/** The name of the declaration that the comment documents. */
export const nameOf = (comment: Comment): string | undefined =>
  declared.exec(comment.before)?.[1] ?? listed.exec(comment.before)?.[1]

/** The text before the first tag and the first example, one line for each paragraph, list item and table row. */
export const description = (comment: Comment): string => {
  const end = comment.lines.findIndex((line) => /^@\w|^\*\*Example\*\*/.test(line.trim()))
  return prose(comment.lines.slice(0, end === -1 ? undefined : end))
}

/** The texts of all occurrences of a tag, each on one line. */
export const tags = (comment: Comment, tag: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  comment.lines.forEach((line, at) => {
    if (!line.trim().startsWith(`@${tag} `)) return
    const rest = comment.lines.slice(at + 1)
    const end = rest.findIndex((next) => next.trim() === "" || next.trim().startsWith("@"))
    const text = [line, ...rest.slice(0, end === -1 ? undefined : end)].map((part) => part.trim()).join(" ")
    found.push(text.slice(tag.length + 2).trim())
  })
  return found
}

const prose = (lines: ReadonlyArray<string>): string =>
  lines
    .join("\n")
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s*\n(?!\s*(?:[-*|]|\d+\.) ?)\s*/g, " "))
    .join("\n\n")
    .replace(/\{@link ([^}]+)\}/g, "`$1`")
