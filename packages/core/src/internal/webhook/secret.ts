import * as Platform from "../../Platform.ts"

const { maxSecretLength, minSecretLength } = Platform

/** The form of secrets with an alphabet of letters, digits and `characters`, and its description. */
export const secretForm = (characters: string) => {
  const escaped = characters.replace(/[\\\]^-]/g, "\\$&")
  const named = [...characters].map((character) => (character === "-" ? "hyphen" : character))
  const alphabet = ["A-Z", "a-z", "0-9", ...named]
  return {
    length: { minLength: minSecretLength, maxLength: maxSecretLength },
    pattern: new RegExp(`^[A-Za-z0-9${escaped}]{${minSecretLength},${maxSecretLength}}$`, "u"),
    description:
      `must be ${minSecretLength} to ${maxSecretLength} characters of ` +
      `${alphabet.slice(0, -1).join(", ")} and ${alphabet.at(-1)}`
  }
}
