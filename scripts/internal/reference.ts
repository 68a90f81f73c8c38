/** The API reference: a page for each public module, from its declarations and their comments. */
import { type Comment, comments, description, tags } from "./jsdoc.ts"
import { type File, files, publicPackages } from "./workspace.ts"

/** A public module of a package, as the compiler declares it. */
export interface Module {
  readonly package: string
  readonly name: string
  readonly summary: string
  readonly entries: ReadonlyArray<Entry>
}

interface Entry {
  readonly name: string
  readonly category: string
  readonly signature: string
  readonly text: string
  readonly examples: ReadonlyArray<string>
  readonly section: string | undefined
}

const longest = 30

const exported = /^export (?:declare )?(const|class|interface|type|function|\{)\s*(\w+)/

/** The declaration that begins a text, without the comments inside it: until its brackets are closed and it has ended. */
const statement = (text: string): string => {
  const lines: Array<string> = []
  let depth = 0
  for (const line of text.replaceAll(/[ \t]*\/\*\*[\s\S]*?\*\/\n?/g, "").split("\n")) {
    lines.push(line)
    depth += (line.match(/[{([]/g) ?? []).length - (line.match(/[})\]]/g) ?? []).length
    if (depth <= 0 && /[;}]$/.test(line)) break
  }
  return lines.length <= longest ? lines.join("\n") : [...lines.slice(0, longest), "    // and so on"].join("\n")
}

const section = (comment: Comment): string | undefined =>
  comment.lines.map((line) => /^API: (.+)$/.exec(line.trim())?.[1]).find((found) => found !== undefined)

const examplesOf = ({ lines }: Comment): ReadonlyArray<string> =>
  [...lines.join("\n").matchAll(/```ts[^\n]*\n([\s\S]*?)```/g)].map(([, code]) => code.trimEnd())

/** What `{@link}` and the paragraph that names the section become on a page. */
const prose = (comment: Comment): string =>
  description(comment)
    .split("\n\n")
    .filter((paragraph) => !paragraph.startsWith("API: "))
    .join("\n\n")

const entriesOf = (file: File): ReadonlyArray<Entry> =>
  comments(file).flatMap((comment): ReadonlyArray<Entry> => {
    const [whole] = exported.exec(comment.before) ?? []
    const [category] = tags(comment, "category")
    if (whole === undefined || category === undefined) return []
    const at = file.text.indexOf(comment.before)
    const signature = statement(file.text.slice(at))
    const name = exported.exec(comment.before)![2]
    return [
      { name, category, signature, text: prose(comment), examples: examplesOf(comment), section: section(comment) }
    ]
  })

// The compiler drops the comment at the head of a module together with an import that it does not need.
const summaryOf = (source: File): string => {
  const [head] = comments(source)
  return head === undefined || exported.test(head.before) ? "" : prose(head)
}

/** The public modules, which must have been compiled. */
export const modules = (): ReadonlyArray<Module> =>
  publicPackages.flatMap((name) => {
    const [index] = files(`packages/${name}/src/index.ts`)
    return [...index.text.matchAll(/from "\.\/(\w+)\.ts"/g)].map(([, module]) => {
      const [source] = files(`packages/${name}/src/${module}.ts`)
      const [declared] = files(`packages/${name}/dist/${module}.d.ts`)
      return { package: name, name: module, summary: summaryOf(source), entries: entriesOf(declared) }
    })
  })

const fence = (code: string): string => `\`\`\`ts\n${code}\n\`\`\``

const entryText = ({ examples, name, section, signature, text }: Entry): string =>
  [
    `### ${name}`,
    text,
    fence(signature),
    ...examples.map((code) => `Example:\n\n${fence(code)}`),
    ...(section === undefined ? [] : [`In the API document: ${section}`])
  ]
    .filter((part) => part !== "")
    .join("\n\n")

/** Where the page of a module stands. */
export const pathOf = (module: Module): string => `docs/api/${module.package}/${module.name}.md`

export const pageOf = (generated: string, module: Module): string => {
  const categories = [...new Set(module.entries.map(({ category }) => category))]
  return [
    generated,
    `# ${module.name}`,
    fence(`import { ${module.name} } from "@colloquy/${module.package}"`),
    module.summary,
    ...categories.flatMap((category) => [
      `## ${category.charAt(0).toUpperCase()}${category.slice(1)}`,
      ...module.entries.filter((entry) => entry.category === category).map(entryText)
    ])
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n")
}

/** The list of all modules. */
export const index = (generated: string, all: ReadonlyArray<Module>): string =>
  [
    generated,
    "# API reference",
    "From the comments in the sources, a page for each module.",
    ...publicPackages.flatMap((name) => [
      `## @colloquy/${name}`,
      all
        .filter((module) => module.package === name)
        .map((module) => `- [${module.name}](${name}/${module.name}.md): ${module.summary.split("\n\n")[0]}`)
        .join("\n")
    ]),
    ""
  ].join("\n\n")
