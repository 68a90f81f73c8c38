/** The parts of `/name`, `/name text` or `/name@username text`. */
interface ParsedCommand {
  readonly name: string
  readonly username: string | undefined
  /** The text after the command, trimmed. */
  readonly text: string
  /** The text after the command, with the whitespace at its end. */
  readonly rest: string
}

const pattern = /^\/([^\s@/]+)(?:@([^\s@]+))?(?:\s+([\s\S]*))?$/

/** Returns `undefined` for a text that does not begin with a command. */
export const parse = (message: string): ParsedCommand | undefined => {
  const [, name, username, rest = ""] = pattern.exec(message) ?? []
  return name === undefined ? undefined : { name: name.toLowerCase(), username, text: rest.trim(), rest }
}
