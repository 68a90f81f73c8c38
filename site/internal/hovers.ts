/** The types of the names in the TypeScript of the pages, from one language service for all of them. */
import type { MarkdownOptions } from "vitepress"
import { join } from "node:path"
import ts from "typescript"
import { root } from "../../scripts/internal/workspace.ts"

type Transformer = NonNullable<MarkdownOptions["codeTransformers"]>[number]

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  types: ["node"]
}

/** The packages resolve from this folder as in a program of the examples. */
const folder = join(root, "examples/src")

const makeService = (codes: ReadonlyArray<string>) => {
  const files = new Map(codes.map((code, index) => [join(folder, `page-${index}.ts`), code]))
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [...files.keys()],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) => {
      const text = files.get(name) ?? ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    fileExists: (name) => files.has(name) || ts.sys.fileExists(name),
    readFile: (name) => files.get(name) ?? ts.sys.readFile(name),
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    realpath: ts.sys.realpath!
  })
  return { service, fileOf: new Map([...files].map(([name, code]) => [code, name])) }
}

const identifiersIn = (node: ts.Node): ReadonlyArray<ts.Identifier> => {
  if (ts.isImportDeclaration(node)) return []
  if (ts.isIdentifier(node)) return [node]
  const found: Array<ts.Identifier> = []
  ts.forEachChild(node, (child) => void found.push(...identifiersIn(child)))
  return found
}

/** A longer type hides more of the page than the type explains. */
const longestType = 600

/** Returns the declaration that an editor shows for a name. */
const typeAt = (service: ts.LanguageService, file: string, position: number): string | undefined => {
  const info = service.getQuickInfoAtPosition(file, position)
  const text = ts
    .displayPartsToString(info?.displayParts)
    .replace(/^\(alias\) /, "")
    .replace(/\n(?:import|namespace) [\s\S]*$/, "")
    .trim()
  return text === "" || /^(?:import|namespace|module|any\b)/.test(text) || text.length > longestType ? undefined : text
}

/** The last line of a message is the most specific one. */
const reasonOf = (message: string | ts.DiagnosticMessageChain): string =>
  ts.flattenDiagnosticMessageText(message, "\n").split("\n").at(-1)!.trim()

/** The types of the names in a code, each type once, with the offset of the name. */
const hoversIn = (service: ts.LanguageService, file: string, source: ts.SourceFile) => {
  const seen = new Set<string>()
  return identifiersIn(source).flatMap((identifier) => {
    const start = identifier.getStart(source)
    const text = typeAt(service, file, start)
    if (text === undefined || seen.has(text)) return []
    seen.add(text)
    return [{ start, end: identifier.getEnd(), text }]
  })
}

const errorsIn = (service: ts.LanguageService, file: string) =>
  service.getSemanticDiagnostics(file).map(({ file: source, messageText, start = 0 }) => ({
    line: source!.getLineAndCharacterOfPosition(start).line + 1,
    text: reasonOf(messageText)
  }))

/**
 * Marks the names in one of the codes with their types. `failing` also has the errors of the compiler, each below its
 * line. All types are found at once, so that the memory of the compiler is free while the site is built.
 */
export const makeHovers = (codes: ReadonlyArray<string>, failing: string): Transformer => {
  const { fileOf, service } = makeService([...new Set([...codes, failing])])
  const program = service.getProgram()!
  const hovers = new Map(
    [...fileOf].map(([code, file]) => [code, hoversIn(service, file, program.getSourceFile(file)!)] as const)
  )
  const errors = errorsIn(service, fileOf.get(failing)!)
  return {
    name: "hovers",
    preprocess(code, options) {
      options.decorations = (hovers.get(code) ?? []).map(({ end, start, text }) => {
        return { start, end, properties: { class: "typed", "data-type": text } }
      })
    },
    line(node, number) {
      if (this.source !== failing) return
      for (const { text } of errors.filter(({ line }) => line === number)) {
        const children = [{ type: "text" as const, value: text }]
        node.children.push({ type: "element", tagName: "span", properties: { class: "type-error" }, children })
      }
    }
  }
}
