/** The public declarations of a module, with their comments and their documented members. */
import { parseSync } from "rolldown/utils"
import { type Comment, comments } from "./jsdoc.ts"
import type { File } from "./workspace.ts"

export interface Member {
  readonly name: string
  readonly comment: Comment
}

export interface Declaration {
  readonly name: string
  /** The declaration without comments and bodies of functions. */
  readonly code: string
  readonly comment: Comment | undefined
  readonly members: ReadonlyArray<Member>
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

interface Parsed {
  readonly text: string
  readonly exports: ReadonlyMap<string, ReadonlyArray<Node>>
  readonly commentAt: ReadonlyMap<number, Comment>
}

/** The inferred type of a schema with more lines says less than the schema, which is printed instead. */
const longestInferredType = 12

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

const childrenOf = (node: Node): ReadonlyArray<Node> => Object.values(node).flat().filter(isNode)

const findType = (node: Node, type: string): Node | undefined => {
  if (node.type === type) return node
  for (const child of childrenOf(node)) {
    const found = findType(child, type)
    if (found !== undefined) return found
  }
  return undefined
}

const nameOf = (node: Node): string | undefined => {
  const { id } = node
  return isNode(id) && typeof id["name"] === "string" ? id["name"] : undefined
}

/** The exported declarations by name, each with the position of the whole statement. */
const exportsOf = (program: Node): ReadonlyMap<string, ReadonlyArray<Node>> => {
  const found = new Map<string, Array<Node>>()
  for (const statement of program["body"] as ReadonlyArray<Node>) {
    const { declaration } = statement
    if (statement.type !== "ExportNamedDeclaration" || !isNode(declaration)) continue
    const named = declaration.type === "VariableDeclaration" ? childrenOf(declaration) : [declaration]
    for (const node of named) {
      const name = nameOf(node)
      if (name !== undefined)
        found.set(name, [...(found.get(name) ?? []), { ...node, start: statement.start, end: statement.end }])
    }
  }
  return found
}

const parse = (file: File): Parsed => {
  const { errors, program } = parseSync(file.path, file.text)
  if (errors.length > 0) throw new Error(`${file.path}: ${errors[0].message}`)
  return {
    text: file.text,
    exports: exportsOf(program as unknown as Node),
    commentAt: new Map(comments(file).map((comment) => [comment.codeAt, comment]))
  }
}

const withoutComments = (code: string): string =>
  code
    .replaceAll(/[ \t]*\/\*\*?[\s\S]*?\*\/[ \t]*\n?/g, "")
    .replaceAll(/^[ \t]*\/\/.*\n/gm, "")
    .replaceAll(/\n(?:[ \t]*\n)+/g, "\n")
    .trim()

/** An interface, a struct, or the object in the head of a class: its members in the source, with their comments. */
const membersOf = ({ commentAt, text }: Parsed, node: Node): ReadonlyArray<Member> => {
  const { superClass, superTypeArguments } = node
  const heads = [superClass, superTypeArguments].filter(isNode)
  const types =
    node.type === "ClassDeclaration"
      ? heads.map((head) => findType(head, "TSTypeLiteral") ?? findType(head, "ObjectExpression"))
      : [
          findType(node, node.type === "TSInterfaceDeclaration" ? "TSInterfaceBody" : "TSTypeLiteral"),
          isNode(node["init"]) && text.startsWith("Schema.Struct(", node["init"].start)
            ? findType(node["init"], "ObjectExpression")
            : undefined
        ]
  const parts = types.find(isNode)
  const inBody = node.type === "ClassDeclaration" && isNode(node["body"]) ? childrenOf(node["body"]) : []
  return [...(parts === undefined ? [] : childrenOf(parts)), ...inBody].flatMap((member): ReadonlyArray<Member> => {
    const comment = commentAt.get(member.start)
    if (comment === undefined) return []
    const [name = ""] =
      /(?:\w+|"[^"]+")\??(?=\s*[<(:={])/.exec(withoutComments(text.slice(member.start, member.end))) ?? []
    return [{ name, comment }]
  })
}

/** The head of a class as the source has it: the compiler declares an unnamed base instead. */
const classCode = ({ text }: Parsed, node: Node): string =>
  withoutComments(text.slice(node.start, (node["body"] as Node).start)).concat(" {}")

const withoutCasts = (node: Node): Node => {
  const { expression } = node
  const isWrapped = node.type === "TSAsExpression" || node.type === "ParenthesizedExpression"
  return isWrapped && isNode(expression) ? withoutCasts(expression) : node
}

const codeOf = (source: Parsed, written: Node, declared: Parsed, node: Node): string => {
  if (written.type === "ClassDeclaration") return classCode(source, written)
  if (written.type.startsWith("TS")) return withoutComments(source.text.slice(written.start, written.end))
  const type = withoutComments(declared.text.slice(node.start, node.end)).replace(/^export declare /, "export ")
  const init = isNode(written["init"]) ? withoutCasts(written["init"]) : undefined
  const isFunction =
    init !== undefined &&
    /^(?:Arrow|Function)|^Effect|^dual|^Layer/.test(
      init.type === "CallExpression" ? source.text.slice(init.start, init.end) : init.type
    )
  return init !== undefined && !isFunction && type.split("\n").length > longestInferredType
    ? withoutComments(source.text.slice(written.start, written.end))
    : type
}

/**
 * The declarations that a module exports, in their order. A type and a value of one name are one declaration. What the
 * compiler leaves out of the declared file (`@internal`) is left out.
 */
export const declarationsOf = (source: File, declared: File): ReadonlyArray<Declaration> => {
  const written = parse(source)
  const compiled = parse(declared)
  return [...written.exports].flatMap(([name, nodes]): ReadonlyArray<Declaration> => {
    const counterparts = compiled.exports.get(name)
    if (counterparts === undefined) return []
    const comment = nodes.map((node) => written.commentAt.get(node.start)).find((found) => found !== undefined)
    const codes = nodes.map((node, index) => codeOf(written, node, compiled, counterparts[index] ?? counterparts[0]))
    return [{ name, code: codes.join("\n\n"), comment, members: nodes.flatMap((node) => membersOf(written, node)) }]
  })
}
