/** The API reference: a page for each public module, from its sources and what the compiler declares. */
import { format } from "oxfmt"
import { type Declaration, declarationsOf, type Member } from "./declarations.ts"
import { type Comment, comments, description, tags } from "./jsdoc.ts"
import { type File, files, publicPackages, run } from "./workspace.ts"

/** A public module of a package. */
export interface Module {
  readonly package: string
  readonly name: string
  /** The path of its source. */
  readonly source: string
  /** Whether the main entry point of the package exports it. */
  readonly isInIndex: boolean
  readonly summary: string
  readonly declarations: ReadonlyArray<Declaration>
}

const section = (comment: Comment): string | undefined =>
  comment.lines.map((line) => /^API: (.+)$/.exec(line.trim())?.[1]).find((found) => found !== undefined)

const examplesOf = ({ lines }: Comment): ReadonlyArray<string> =>
  [...lines.join("\n").matchAll(/```ts[^\n]*\n([\s\S]*?)```/g)].map(([, code]) => code.trimEnd())

const prose = (comment: Comment): string =>
  description(comment)
    .split("\n\n")
    .filter((paragraph) => !paragraph.startsWith("API: "))
    .join("\n\n")

const summaryOf = (source: File): string => {
  const [head] = comments(source)
  return head === undefined || /^export (?!\*)/.test(head.before) ? "" : prose(head)
}

const categoryOf = ({ comment }: Declaration): string | undefined => comment && tags(comment, "category")[0]

/** Breaks a signature into lines that fit beside the navigation. A code that cannot be formatted by itself stays. */
const withLines = async (declaration: Declaration): Promise<Declaration> => {
  const options = { semi: false, printWidth: 84, trailingComma: "none" } as const
  const { code, errors } = await format("signature.d.ts", declaration.code, options)
  return errors.length > 0 ? declaration : { ...declaration, code: code.trimEnd() }
}

const modulesOf = async (name: string): Promise<ReadonlyArray<Module>> => {
  const [index] = files(`packages/${name}/src/index.ts`)
  const exported = new Set([...index.text.matchAll(/from "\.\/([\w/]+\.ts)"/g)].map(([, path]) => path))
  const read = files(`packages/${name}/src/*/*.ts`).map(async (source): Promise<Module> => {
    const [, path, module] = /\/src\/((?:\w+\/)*(\w+)\.ts)$/.exec(source.path)!
    const [declared] = files(`packages/${name}/dist/${path.replace(/\.ts$/, ".d.ts")}`)
    const documented = declarationsOf(source, declared).filter((each) => categoryOf(each) !== undefined)
    return {
      package: name,
      name: module,
      source: source.path,
      isInIndex: exported.has(path),
      summary: summaryOf(source),
      declarations: await Promise.all(documented.map(withLines))
    }
  })
  return Promise.all(read)
}

/** Compiles the public packages, and returns their public modules. */
export const modules = async (): Promise<ReadonlyArray<Module>> => {
  const compiled = run("tsc", ["-b", ...publicPackages.map((name) => `packages/${name}`)])
  if (!compiled.ok) throw new Error(compiled.output)
  return (await Promise.all(publicPackages.map(modulesOf))).flat()
}

const fence = (code: string): string => `\`\`\`ts\n${code}\n\`\`\``

const memberText = ({ comment, name }: Member): string =>
  `- \`${name}\`: ${prose(comment).replaceAll("\n\n", " ").replaceAll("\n", "\n  ")}`

/** The errors that every call can have, by `ApiError.Common`. */
const common = ["Unauthorized", "RateLimited", "RequestFailed"]

/** The links to the errors of an endpoint, or nothing for another declaration. */
const errorsOf = ({ code }: Declaration): ReadonlyArray<string> => {
  if (!/^export const \w+: (?:Endpoint\.)?Endpoint</.test(code)) return []
  const own = [...code.matchAll(/\bApiError\.(\w+)/g)].map(([, name]) => name)
  const links = [...own.filter((name) => name !== "Common"), ...common].map(
    (name) => `[\`${name}\`](ApiError.md#${name.toLowerCase()})`
  )
  return [`Errors: ${links.join(", ")}`]
}

const declarationText = (declaration: Declaration): string => {
  const { code, comment, members, name } = declaration
  return [
    `### ${name}`,
    ...(comment === undefined ? [] : [prose(comment)]),
    fence(code),
    ...errorsOf(declaration),
    members.map(memberText).join("\n"),
    ...(comment === undefined ? [] : examplesOf(comment).map((example) => `Example:\n\n${fence(example)}`)),
    ...(comment === undefined || section(comment) === undefined ? [] : [`API document: ${section(comment)}`])
  ]
    .filter((part) => part !== "")
    .join("\n\n")
}

/** The path by which a module is imported. */
const specifierOf = ({ package: from, source }: Module): string =>
  `@colloquy/${from}/${source.replace(/^.*\/src\/|\.ts$/g, "")}`

const importOf = (module: Module): string =>
  module.isInIndex
    ? `import { ${module.name} } from "@colloquy/${module.package}"`
    : `import * as ${module.name} from "${specifierOf(module)}"`

/** The page of a module. */
export const pageOf = (module: Module): string => {
  const categories = [...new Set(module.declarations.map(categoryOf))].filter((category) => category !== undefined)
  return [
    `# ${module.name}`,
    fence(importOf(module)),
    module.summary,
    ...categories.flatMap((category) => [
      `## ${category.charAt(0).toUpperCase()}${category.slice(1)}`,
      ...module.declarations.filter((each) => categoryOf(each) === category).map(declarationText)
    ])
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n")
}

/** The first paragraph about a module. */
export const firstParagraph = ({ summary }: Module): string => summary.split("\n\n")[0]

/** The list of the modules of some packages. `linkTo` returns where the page of a module is. */
export const index = (all: ReadonlyArray<Module>, linkTo: (module: Module) => string): string => {
  const entryOf = (module: Module) => `- [${module.name}](${linkTo(module)}): ${firstParagraph(module)}`
  return [
    "# API reference",
    "Each public module has a page, which is generated from the sources.",
    ...[...new Set(all.map((module) => module.package))].flatMap((name) => {
      const own = all.filter((module) => module.package === name)
      const byPath = own.filter(({ isInIndex }) => !isInIndex)
      return [
        `## @colloquy/${name}`,
        own
          .filter(({ isInIndex }) => isInIndex)
          .map(entryOf)
          .join("\n"),
        ...(byPath.length === 0
          ? []
          : [`Imported by path, such as \`${specifierOf(byPath[0])}\`:`, byPath.map(entryOf).join("\n")])
      ]
    }),
    ""
  ].join("\n\n")
}
