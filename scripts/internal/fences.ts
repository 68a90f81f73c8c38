import { comments } from "./jsdoc.ts"
import type { File } from "./workspace.ts"

export interface Fence {
  readonly file: string
  /** The 1-based line on which the code begins. */
  readonly line: number
  readonly code: string
}

const inLines = (file: string, lines: ReadonlyArray<string>, first: number): ReadonlyArray<Fence> => {
  const found: Array<Fence> = []
  let opened: { readonly info: string; readonly at: number } | undefined
  lines.forEach((line, at) => {
    const [, info] = /^\s*```(.*)$/.exec(line) ?? []
    if (info === undefined) return
    if (opened === undefined) {
      opened = { info: info.trim(), at: at + 1 }
      return
    }
    if (opened.info === "ts") {
      found.push({ file, line: first + opened.at, code: lines.slice(opened.at, at).join("\n") })
    }
    opened = undefined
  })
  return found
}

/** The fenced TypeScript blocks of a Markdown file or of the JSDoc of a source, except those marked `ts skip`. */
export const fences = (file: File): ReadonlyArray<Fence> =>
  file.path.endsWith(".md")
    ? inLines(file.path, file.text.split("\n"), 1)
    : comments(file).flatMap((comment) => inLines(file.path, comment.lines, comment.line))
