import { type Section, sections } from "../../packages/testing/test/support/sections.ts"
import { files } from "./workspace.ts"

/** A rule of the API document, or an assumption where the document is silent, with the test of the emulator. */
export interface Fidelity {
  readonly section: Section
  readonly what: string
  readonly grade: string | undefined
  readonly file: string
}

const text = String.raw`("(?:[^"\\\n]|\\.)*")`

const call = new RegExp(String.raw`(?<=^|\n)[ \t]*(?:says\(|assumes\(\s*"([ABC])",)\s*${text},\s*${text},`, "g")

const opening = /(?<=^|\n)[ \t]*(?:says|assumes)\(/g

/** The `says` and `assumes` calls of the tests, in the order of the document's sections. */
export const fidelity = (): ReadonlyArray<Fidelity> => {
  const found = files("packages/*/test/**/*.test.ts").flatMap((file): ReadonlyArray<Fidelity> => {
    const calls = [...file.text.matchAll(call)]
    const opened = [...file.text.matchAll(opening)].length
    if (calls.length !== opened) {
      throw new Error(`${file.path}: ${opened - calls.length} of ${opened} sentences are not plain texts`)
    }
    return calls.map(([, grade, section, what]) => ({
      section: JSON.parse(section) as Section,
      what: JSON.parse(what) as string,
      grade,
      file: file.path
    }))
  })
  const seen = new Set<string>()
  for (const { file, section, what } of found) {
    if (!sections.includes(section)) throw new Error(`${file}: the API document has no section "${section}"`)
    const sentence = `${section}: ${what}`
    if (seen.has(sentence)) throw new Error(`${file}: "${sentence}" is the name of two tests`)
    seen.add(sentence)
  }
  return sections.flatMap((section) => found.filter((each) => each.section === section))
}
