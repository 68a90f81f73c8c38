/** A limit of the length of classes, counted as `max-lines-per-function` counts functions: without blank lines and comments. */
interface Position {
  readonly line: number
}

interface Node {
  readonly id?: { readonly name: string } | null
  readonly loc: { readonly start: Position; readonly end: Position }
}

interface Context {
  readonly options: ReadonlyArray<number>
  readonly sourceCode: {
    readonly lines: ReadonlyArray<string>
    readonly getAllComments: () => ReadonlyArray<Node>
  }
  readonly report: (problem: { readonly node: Node; readonly message: string }) => void
}

const maxLinesPerClass = {
  meta: { schema: [{ type: "integer" }] },
  create: ({ options: [max], sourceCode, report }: Context) => {
    const check = (node: Node) => {
      const { start, end } = node.loc
      const comments = sourceCode.getAllComments().map(({ loc }) => loc)
      const counted = sourceCode.lines.filter((text, index) => {
        const line = index + 1
        const inClass = line >= start.line && line <= end.line
        const inComment = comments.some((comment) => line >= comment.start.line && line <= comment.end.line)
        return inClass && text.trim() !== "" && !(inComment && !/^\s*[^\s/*]/.test(text))
      }).length
      if (counted > max) {
        const name = node.id?.name ?? "of an expression"
        report({ node, message: `The class ${name} has too many lines (${counted}). Maximum allowed is ${max}.` })
      }
    }
    return { ClassDeclaration: check, ClassExpression: check }
  }
}

export default { meta: { name: "shape" }, rules: { "max-lines-per-class": maxLinesPerClass } }
