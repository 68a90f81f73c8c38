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

/** Returns what has to be done for the translations of the documentation. */
export const translationProblems = (): ReadonlyArray<string> => {
  const originals = files("{README.md,docs/*.md}")
  return files("docs/ru/*.md").flatMap((translation) => problemOf(translation, originals) ?? [])
}
