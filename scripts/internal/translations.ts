/** The translated pages: each names its original, and the text of the original that was translated by a hash. */
import { createHash } from "node:crypto"
import { files, type File } from "./workspace.ts"

const frontMatter = /^---\noriginal: (\S+)\nhash: (\w*)\n---\n/

/** The hash of a page, as the front matter of a translation has it. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16)

const codeOf = (text: string): string =>
  [...text.matchAll(/^```(?:ts|json|sh)[^\n]*\n[\s\S]*?^```$/gm)].map(([code]) => code).join("\n")

/** Returns what has to be done for a translation, or `undefined` if the translation is as new as its original. */
export const problemOf = (translation: File, originals: ReadonlyArray<File>): string | undefined => {
  const [, path, hash] = frontMatter.exec(translation.text) ?? []
  const original = originals.find((each) => each.path === path)
  if (original === undefined) return `${translation.path} does not name its original: begin it with original: and hash:`
  const current = hashOf(original.text)
  if (hash !== current) {
    return `${translation.path} is older than ${path}: translate what has changed, and set hash: ${current}`
  }
  return codeOf(translation.text) === codeOf(original.text)
    ? undefined
    : `${translation.path} has other code than ${path}: copy the code`
}

/** The sections of `docs/README.md` whose pages are all translated. */
const translated = ["Start", "Write a bot"]

/** Returns the pages of the translated sections that have no translation. */
export const untranslated = (contents: string, originals: ReadonlyArray<string>): ReadonlyArray<string> =>
  contents
    .split(/^## /m)
    .filter((section) => translated.some((title) => section.startsWith(`${title}\n`)))
    .flatMap((section) => [...section.matchAll(/^\| \[[^\]]+\]\(([^)]+\.md)\)/gm)].map(([, target]) => target!))
    .map((target) => (target.startsWith("../") ? target.slice(3) : `docs/${target}`))
    .filter((path) => !originals.includes(path))
    .map((path) => `${path} has no translation in docs/ru`)

/** Returns what has to be done for the translations of the documentation. */
export const translationProblems = (): ReadonlyArray<string> => {
  const originals = files("{README.md,docs/*.md}")
  const translations = files("docs/ru/*.md")
  const contents = originals.find(({ path }) => path === "docs/README.md")!.text
  return [
    ...translations.flatMap((translation) => problemOf(translation, originals) ?? []),
    ...untranslated(
      contents,
      translations.map(({ text }) => frontMatter.exec(text)?.[1] ?? "")
    )
  ]
}
