/** The API reference: a page for each public module, from its sources and what the compiler declares. */
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

const modulesOf = (name: string): ReadonlyArray<Module> => {
  const [index] = files(`packages/${name}/src/index.ts`)
  const exported = new Set([...index.text.matchAll(/from "\.\/([\w/]+\.ts)"/g)].map(([, path]) => path))
  return files(`packages/${name}/src/*/*.ts`).flatMap((source): ReadonlyArray<Module> => {
    const [, path, module] = /\/src\/((?:\w+\/)*(\w+)\.ts)$/.exec(source.path)!
    const [declared] = files(`packages/${name}/dist/${path.replace(/\.ts$/, ".d.ts")}`)
    return [
      {
        package: name,
        name: module,
        source: source.path,
        isInIndex: exported.has(path),
        summary: summaryOf(source),
        declarations: declarationsOf(source, declared).filter((each) => categoryOf(each) !== undefined)
      }
    ]
  })
}

/** Compiles the public packages, and returns their public modules. */
export const modules = (): ReadonlyArray<Module> => {
  const compiled = run("tsc", ["-b", ...publicPackages.map((name) => `packages/${name}`)])
  if (!compiled.ok) throw new Error(compiled.output)
  return publicPackages.flatMap(modulesOf)
}

const fence = (code: string): string => `\`\`\`ts\n${code}\n\`\`\``

const memberText = ({ comment, name }: Member): string =>
  `- \`${name}\`: ${prose(comment).replaceAll("\n\n", " ").replaceAll("\n", "\n  ")}`

const declarationText = ({ code, comment, members, name }: Declaration): string =>
  [
    `### ${name}`,
    ...(comment === undefined ? [] : [prose(comment)]),
    fence(code),
    members.map(memberText).join("\n"),
    ...(comment === undefined ? [] : examplesOf(comment).map((example) => `Example:\n\n${fence(example)}`)),
    ...(comment === undefined || section(comment) === undefined ? [] : [`API document: ${section(comment)}`])
  ]
    .filter((part) => part !== "")
    .join("\n\n")

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
