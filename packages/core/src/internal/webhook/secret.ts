import * as Platform from "../../Platform.ts"

const { maxSecretLength, minSecretLength } = Platform

/** Why secrets cannot have an alphabet of letters, digits and these characters, if they cannot. */
export const secretCharactersProblem = (characters: string): string | undefined =>
  /^[!-+\--~]*$/.test(characters) ? undefined : "must be visible ASCII characters other than the comma"

/** The form of secrets with an alphabet of letters, digits and `characters`, and its description. */
export const secretForm = (characters: string): { readonly pattern: RegExp; readonly description: string } => {
  const escaped = characters.replace(/[\\\]^-]/g, "\\$&")
  const named = [...characters].map((character) => (character === "-" ? "hyphen" : character))
  const alphabet = ["A-Z", "a-z", "0-9", ...named]
  return {
    pattern: new RegExp(`^[A-Za-z0-9${escaped}]{${minSecretLength},${maxSecretLength}}$`, "u"),
    description:
      `must be ${minSecretLength} to ${maxSecretLength} characters of ` +
      `${alphabet.slice(0, -1).join(", ")} and ${alphabet.at(-1)}`
  }
}
