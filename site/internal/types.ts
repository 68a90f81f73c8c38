/** The declarations that an editor in a page needs: the packages that a bot imports, and the library of the language. */
import { readFileSync } from "node:fs"
import { deflateSync } from "node:zlib"
import { join, relative } from "node:path"
import ts from "typescript"
import { root } from "../../scripts/internal/workspace.ts"

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
  types: [],
  skipLibCheck: true
}

/** Where the compiler in the page finds a file. A link of the workspace is a folder in the page. */
const placeOf = (file: string): string => {
  if (file.startsWith(join(root, "packages/"))) {
    return `/node_modules/@colloquy/${relative(join(root, "packages"), file)}`
  }
  return /\/typescript\/lib\/lib\.[^/]*$/.test(file) ? file.replace(/^.*\//, "/") : file.slice(root.length)
}

/** The comments of Effect are two thirds of all declarations. */
const withoutComments = (file: string, text: string): string =>
  file.includes("/@colloquy/") ? text : text.replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, "")

/** Returns the compressed texts of the declarations by their paths in the page, as JSON. */
export const declarations = (): Uint8Array => {
  const entry = join(root, "examples/src/page.ts")
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  const text = `import "@colloquy/core"\nimport "effect"\n`
  host.getSourceFile = (name, ...rest) =>
    name === entry ? ts.createSourceFile(name, text, ts.ScriptTarget.ESNext) : getSourceFile(name, ...rest)
  const program = ts.createProgram([entry], options, host)
  const files = program.getSourceFiles().flatMap(({ fileName, text }) => {
    const place = placeOf(fileName)
    return fileName === entry ? [] : [[place, withoutComments(place, text)] as const]
  })
  const manifests = ["@colloquy/core", "effect"].map((name) => {
    return [
      `/node_modules/${name}/package.json`,
      readFileSync(join(root, "node_modules", name, "package.json"), "utf8")
    ]
  })
  return deflateSync(JSON.stringify(Object.fromEntries([...files, ...manifests])))
}
