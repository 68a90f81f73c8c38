/** Generates `llms.txt`: one line for each page. */
import { type Module, pathOf } from "./reference.ts"
import { files } from "./workspace.ts"

/** The first paragraph under the title of a page. */
const summaryOf = (text: string): string => {
  const paragraphs = text.split(/\n\s*\n/).filter((part) => !/^(#|<!--|```)/.test(part.trim()))
  return (paragraphs[0] ?? "").replaceAll(/\s+/g, " ").trim()
}

const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1] ?? ""

/** `generated` has the pages that are written in the same run. */
export const llms = (modules: ReadonlyArray<Module>, generated: Readonly<Record<string, string>>): string => {
  const [readme] = files("README.md")
  const pages = files("docs/*.md").map(({ path, text }) => {
    const page = generated[path] ?? text
    return `- [${titleOf(page)}](${path}): ${summaryOf(page)}`
  })
  const reference = modules.map(
    (module) =>
      `- [${module.name} of @colloquy/${module.package}](${pathOf(module)}): ${module.summary.split("\n\n")[0]}`
  )
  const examples = files("examples/src/*.ts").map(({ path, text }) => {
    const [, what = ""] = /^\/\*\*([\s\S]*?)\*\//.exec(text) ?? []
    return `- [${path}](${path}): ${what.replaceAll(/\s*\n?\s*\* ?/g, " ").trim()}`
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
