// Plain names arrive as they are at every host; a percent sign would be taken for the beginning of a code.
const plain = /^[ !#$&'()+,.0-9;=@A-Z[\]^_`a-z{}~-]*$/

const looksEncoded = /%[\da-f]{2}/i

const percentEncoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )

/**
 * The parameter of a content disposition that tells the name of a file, in any script.
 *
 * @assumption fileNameEncoding
 */
export const fileNameOf = (name: string): string => {
  if (plain.test(name)) return `filename="${name}"`
  const encoded = percentEncoded(name)
  // A host that reads both forms as it reads the plain one would decode a name like "a%20b" twice.
  return looksEncoded.test(name) ? `filename="${encoded}"` : `filename="${encoded}"; filename*=UTF-8''${encoded}`
}
