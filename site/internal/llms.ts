/** Generates `llms.txt` of the site: a line for each page. */
import { firstParagraph, type Module } from "../../scripts/internal/reference.ts"
import { files } from "../../scripts/internal/workspace.ts"
import { placeOf, referenceOf } from "./pages.ts"

/** The first paragraph under the title of a page. */
const summaryOf = (text: string): string => {
  const paragraphs = text.split(/\n\s*\n/).filter((part) => !/^(#|<!--|```)/.test(part.trim()))
  return (paragraphs[0] ?? "").replaceAll(/\s+/g, " ").trim()
}

const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1] ?? ""

/** Paths are relative to the site. */
const linkTo = (path: string): string => `${placeOf(path)}.html`

export const llms = (modules: ReadonlyArray<Module>): string => {
  const [readme] = files("README.md")
  const pages = files("docs/*.md").map(({ path, text }) => `- [${titleOf(text)}](${linkTo(path)}): ${summaryOf(text)}`)
  const reference = modules.map(
    (module) =>
      `- [${module.name} of @colloquy/${module.package}](${linkTo(referenceOf(module))}): ${firstParagraph(module)}`
  )
  const examples = files("examples/src/*.ts").map(({ path, text }) => {
    const [, what = ""] = /^\/\*\*([\s\S]*?)\*\//.exec(text) ?? []
    return `- [${path}](${linkTo(path)}): ${what.replaceAll(/\s*\n?\s*\* ?/g, " ").trim()}`
  })
  return [
    `# ${titleOf(readme.text)}`,
    `> ${summaryOf(readme.text)}`,
    "## Pages",
    pages.join("\n"),
    "## Examples",
    examples.join("\n"),
    "## API reference",
    reference.join("\n"),
    ""
  ].join("\n\n")
}
