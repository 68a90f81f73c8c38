/** A text that begins with a command: `/name`, `/name@username`, and what follows after a blank. */
export interface CommandText {
  readonly name: string
  readonly mention: string | undefined
  readonly rest: string
}

const form = /^\/([^\s@/]+)(?:@([^\s@]+))?(?:\s+([\s\S]*))?$/

export const parse = (text: string): CommandText | undefined => {
  const [, name, mention, rest = ""] = form.exec(text) ?? []
  return name === undefined ? undefined : { name: name.toLowerCase(), mention, rest: rest.trim() }
}

/** One word for each key, and for the last one all that is left. A key for which nothing is left has no value. */
export const split = (keys: ReadonlyArray<string>, text: string): Readonly<Record<string, string>> => {
  const given: Record<string, string> = {}
  let left = text.trim()
  keys.forEach((key, at) => {
    const end = at === keys.length - 1 ? -1 : left.search(/\s/)
    const word = end === -1 ? left : left.slice(0, end)
    if (word !== "") given[key] = word
    left = left.slice(word.length).trimStart()
  })
  return given
}
