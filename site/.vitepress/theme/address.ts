/** The program of a reader in the address of the page. */
import { deflateSync, inflateSync, strFromU8, strToU8 } from "fflate"

const name = "#program="

/** Returns the program in the address, or `undefined` if the address has none that can be read. */
export const programInAddress = (): string | undefined => {
  if (!location.hash.startsWith(name)) return undefined
  try {
    const base64 = location.hash.slice(name.length).replaceAll("-", "+").replaceAll("_", "/")
    return strFromU8(inflateSync(strToU8(atob(base64), true)))
  } catch {
    return undefined
  }
}

/** Puts a program into the address. */
export const putIntoAddress = (program: string): void => {
  const base64 = btoa(strFromU8(deflateSync(strToU8(program), { level: 9 }), true))
  const text = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
  history.replaceState(history.state, "", `${name}${text}`)
}

/** Removes the program from the address. */
export const removeFromAddress = (): void => history.replaceState(history.state, "", location.pathname)
