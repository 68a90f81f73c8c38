/** The pages of the site: `docs`, the README, the API reference, and the files of the repository that they link to. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { dirname, join, posix, relative } from "node:path"
import { index, type Module, pageOf } from "../../scripts/internal/reference.ts"
import { publicPackages, root } from "../../scripts/internal/workspace.ts"

/** Files that belong to the pages and are copied as they are. */
const isAsset = (path: string): boolean => /\.(?:png|svg|jpg)$/.test(path)

/** Where the reference of a module is, as if the repository contained the page. */
export const referenceOf = (module: Module): string => `docs/api/${module.package}/${module.name}.md`

const contents = "docs/api/README.md"

/** Where a Markdown page of the repository is on the site, without the extension. */
const placeOfMarkdown = (path: string): string => {
  if (path === "README.md") return "introduction"
  return path
    .replace(/^docs\//, "")
    .replace(/(^|\/)README\.md$/, "$1contents.md")
    .replace(/\.md$/, "")
}

/** Where a file or folder of the repository is on the site, without the extension. */
export const placeOf = (path: string): string => {
  if (path.endsWith(".md") && (path.startsWith("docs/") || !path.includes("/"))) return placeOfMarkdown(path)
  // The generator leaves out hidden folders, and takes a link that ends with .md for one to the page without it.
  return `code/${path.replaceAll(/(^|\/)\./g, "$1dot-").replace(/\.md$/, "-md")}`
}

const languages: Readonly<Record<string, string>> = {
  go: "go",
  json: "json",
  md: "md",
  py: "python",
  sh: "sh",
  toml: "toml",
  ts: "ts",
  yml: "yaml"
}

const codePage = (path: string, text: string): string => {
  const name = path.split("/").at(-1)!
  const language = languages[name.split(".").at(-1)!] ?? "text"
  return `---\nsearch: false\noutline: false\n---\n\n# ${name}\n\n\`${path}\`\n\n\`\`\`\`${language} source\n${text.trimEnd()}\n\`\`\`\`\n`
}

const filesBelow = (folder: string): ReadonlyArray<string> =>
  globSync("**/*", { cwd: join(root, folder), exclude: (name) => /node_modules|dist|test-results/.test(name) })
    .filter((path) => statSync(join(root, folder, path)).isFile())
    .map((path) => posix.join(folder, path.replaceAll("\\", "/")))
    .toSorted()

/** The files of the site, by their paths. */
export interface Site {
  readonly pages: ReadonlyMap<string, string>
  /** Files of the repository that are copied, by their paths on the site. */
  readonly assets: ReadonlyMap<string, string>
}

/** The links to the errors of an endpoint, as one block that the style of the site shows as chips. */
const withErrors = (text: string): string =>
  text.replaceAll(
    /^Errors: (.*)$/gm,
    (_, links: string) => `<div class="errors">\n\n${links.replaceAll(", ", " ")}\n\n</div>`
  )

/** The ends of links, and the pictures for light and dark colors, which are HTML. */
const linkPattern = /(\]\(|<(?:img|source)\b[^>]*\bsrc(?:set)?=")([^)\s"]+)(\)|")/g

/** Applies `change` to the text outside of code. */
const outsideCode = (text: string, change: (text: string) => string): string =>
  text
    .split(/(^ *```[\s\S]*?^ *```$|`[^`\n]*`)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join("")

/** Code spans in links, such as [`Person`](../packages/testing/src/emulator/Person.ts), separate the brackets: links are found by their ends. */
const changeLinks = (text: string, change: (target: string) => string): string =>
  outsideCode(text, (part) => part.replaceAll(linkPattern, (_, open, target, close) => open + change(target) + close))

/**
 * Reads the pages of the repository, and changes their links to places of the site. A link to the source of a public
 * module becomes one to its reference, and a link to an entry point becomes one to the list of the modules.
 */
export const readSite = (modules: ReadonlyArray<Module>): Site => {
  const generated = new Map(modules.map((module) => [referenceOf(module), pageOf(module)]))
  generated.set(
    contents,
    index(modules, (module) => `${module.package}/${module.name}.md`)
  )
  const references = new Map([
    ...modules.map((module) => [module.source, referenceOf(module)] as const),
    ...publicPackages.map((name) => [`packages/${name}/src/index.ts`, contents] as const)
  ])
  const pages = new Map<string, string>()
  const assets = new Map<string, string>()
  const waiting: Array<string> = ["README.md", ...globSync("docs/{,ru/}*.md", { cwd: root }), ...generated.keys()]
  const seen = new Set(waiting)

  const visit = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    waiting.push(path)
  }

  const linked = (from: string, place: string, target: string): string => {
    if (/^(?:[a-z]+:|#)/.test(target)) return target
    const [file, anchor] = target.split("#") as [string, string?]
    const source = posix.normalize(posix.join(dirname(from), file)).replace(/\/$/, "")
    const path = references.get(source) ?? source
    const isGenerated = generated.has(path)
    if (path.startsWith("..") || !(isGenerated || existsSync(join(root, path))))
      throw new Error(`${from} links to ${target}: no such file`)
    const hash = anchor === undefined ? "" : `#${anchor}`
    if (isAsset(path)) {
      assets.set(`assets/${path}`, path)
      return `/assets/${path}`
    }
    const isFolder = !isGenerated && statSync(join(root, path)).isDirectory()
    const page = isFolder && existsSync(join(root, path, "README.md")) ? `${path}/README.md` : path
    visit(page)
    const to = relative(dirname(place), placeOf(page)).replaceAll("\\", "/")
    return `${to.startsWith(".") ? to : `./${to}`}.md${hash}`
  }

  const moduleOf = new Map(modules.map((module) => [referenceOf(module), module]))

  /** Links to the source below the title of a page of the reference, and to its line below the name of each declaration. */
  const withSource = (text: string, path: string, place: string): string => {
    const module = moduleOf.get(path)
    if (module === undefined) return text
    visit(module.source)
    const link = `${relative(dirname(place), placeOf(module.source))}.md`
    const lines = Map.groupBy(module.declarations, ({ name }) => name)
    return text
      .replace(/^# .*$/m, (title) => `${title}\n\n[Source](${link})`)
      .replaceAll(/^### (\w+)$/gm, (heading, name: string) => {
        const line = lines.get(name)?.shift()?.comment?.line
        return line === undefined ? heading : `${heading}\n\n[Source](${link}#L${line})`
      })
  }

  const read = (path: string): string => {
    const place = placeOf(path)
    const made = generated.get(path)
    if (made !== undefined)
      return withErrors(
        withSource(
          changeLinks(made, (target) => linked(path, place, target)),
          path,
          place
        )
      )
    const full = join(root, path)
    if (statSync(full).isDirectory()) {
      const rows = filesBelow(path).map(
        (file) => `- [${file.slice(path.length + 1)}](${linked(path + "/x", place, file.slice(path.length + 1))})`
      )
      return `---\nsearch: false\noutline: false\n---\n\n# ${path}\n\n${rows.join("\n")}\n`
    }
    const text = readFileSync(full, "utf8")
    if (place.startsWith("code/")) return codePage(path, text)
    const isTranslated = existsSync(join(root, `docs/ru/${place}.md`))
    return `${isTranslated ? `---\ntranslation: /ru/${place}\n---\n\n` : ""}${changeLinks(text, (target) => linked(path, place, target))}`
  }

  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) pages.set(`${placeOf(path)}.md`, read(path))
  return { pages, assets }
}

const programsIn = (page: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, "site/.pages", page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) =>
    code!.trimEnd()
  )

/** The program of the start page, which does not compile. */
export const startProgram = (): string => programsIn("index.md")[0]!

/** The programs in TypeScript on the pages for readers, after the pages are written. The reference declares its types itself. */
export const programs = (): ReadonlyArray<string> =>
  globSync("**/*.md", {
    cwd: join(root, "site/.pages"),
    exclude: (name) => /^(?:api|code|public)$/.test(name)
  }).flatMap(programsIn)

/** The sections of `docs/README.md`, for the navigation. */
export const sections = () =>
  readFileSync(join(root, "docs/README.md"), "utf8")
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [text] = section.split("\n") as [string]
      const items = [...section.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)]
        .filter(([, , target]) => target!.endsWith(".md"))
        .map(([, text, target]) => ({
          text: text === "The README" ? "Introduction" : text!,
          link: `/${placeOf(posix.normalize(posix.join("docs", target!)))}`
        }))
      return { text, items }
    })

/** The sections whose pages are translated, with their Russian titles, for the navigation. */
export const translations = (titles: Readonly<Record<string, string>>) =>
  sections()
    .filter(({ text }) => Object.hasOwn(titles, text))
    .map(({ items, text }) => ({
      text: titles[text]!,
      items: items.map(({ link }) => ({
        text: /^# (.+)$/m.exec(readFileSync(join(root, `docs/ru${link}.md`), "utf8"))![1]!,
        link: `/ru${link}`
      }))
    }))

/** The modules of the reference, by package, after their pages are written. */
export const reference = () =>
  publicPackages.map((name) => ({
    text: `@colloquy/${name}`,
    link: `/api/contents#colloquy${name}`,
    collapsed: true,
    items: globSync("*.md", { cwd: join(root, "site/.pages/api", name) })
      .toSorted()
      .map((file) => ({ text: file.slice(0, -3), link: `/api/${name}/${file.slice(0, -3)}` }))
  }))
