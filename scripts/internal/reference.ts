/** The API reference: a page for each public module, from its sources and what the compiler declares. */
import { type Declaration, declarationsOf, type Member } from "./declarations.ts"
import { type Comment, comments, description, tags } from "./jsdoc.ts"
import { type File, files, publicPackages } from "./workspace.ts"

/** A public module of a package. */
export interface Module {
  readonly package: string
  readonly name: string
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

/** The public modules, which must have been compiled. */
export const modules = (): ReadonlyArray<Module> =>
  publicPackages.flatMap((name) => {
    const [index] = files(`packages/${name}/src/index.ts`)
    const exported = new Set([...index.text.matchAll(/from "\.\/(\w+)\.ts"/g)].map(([, module]) => module))
    return files(`packages/${name}/src/*.ts`).flatMap((source): ReadonlyArray<Module> => {
      const module = source.path.replace(/^.*\/(\w+)\.ts$/, "$1")
      const [declared] = files(`packages/${name}/dist/${module}.d.ts`)
      if (module === "index" || module === "bin") return []
      const declarations = declarationsOf(source, declared).filter((each) => categoryOf(each) !== undefined)
      return [
        { package: name, name: module, isInIndex: exported.has(module), summary: summaryOf(source), declarations }
      ]
    })
  })

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

/** The path of the page of a module. */
export const pathOf = (module: Module): string => `docs/api/${module.package}/${module.name}.md`

const importOf = ({ isInIndex, name, package: from }: Module): string =>
  isInIndex ? `import { ${name} } from "@colloquy/${from}"` : `import * as ${name} from "@colloquy/${from}/${name}"`

export const pageOf = (generated: string, module: Module): string => {
  const categories = [...new Set(module.declarations.map(categoryOf))].filter((category) => category !== undefined)
  return [
    generated,
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

const entryOf = (module: Module): string =>
  `- [${module.name}](${module.package}/${module.name}.md): ${module.summary.split("\n\n")[0]}`

/** The list of all modules. */
export const index = (generated: string, all: ReadonlyArray<Module>): string =>
  [
    generated,
    "# API reference",
    "One page for each public module, generated from the sources.",
    ...publicPackages.flatMap((name) => {
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
          : [`Imported by path, such as \`@colloquy/${name}/${byPath[0].name}\`:`, byPath.map(entryOf).join("\n")])
      ]
    }),
    ""
  ].join("\n\n")
