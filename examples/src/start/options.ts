/** The options of `npm start`. */
import { parseArgs } from "node:util"

const usage = "Use npm start, npm start -- FILE, or npm start -- --open FILE."

/** What is wrong with the arguments, as a sentence. */
const problemOf = ({
  positionals,
  unknown
}: {
  positionals: ReadonlyArray<string>
  unknown: ReadonlyArray<string>
}) => {
  if (unknown.length > 0) return `npm start has no option ${unknown.join(" and no option ")}.`
  return positionals.length > 1 ? `npm start runs one module, and ${positionals.length} are given.` : undefined
}

/** Reads the arguments. Wrong arguments are a sentence on standard error, and the process ends with the code 2. */
export const readOptions = (args: ReadonlyArray<string>) => {
  const { positionals, tokens, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: { open: { type: "boolean" } }
  })
  const unknown = tokens.flatMap((token) =>
    token.kind === "option" && (token.name !== "open" || token.value !== undefined) ? [args[token.index] ?? ""] : []
  )
  const problem = problemOf({ positionals, unknown })
  if (problem !== undefined) {
    console.error(`${problem} ${usage}`)
    process.exit(2)
  }
  return { file: positionals[0], opensPage: values["open"] === true }
}
