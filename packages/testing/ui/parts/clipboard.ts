import { toast } from "../store.ts"

/** Copies a text. The clipboard is missing on a page that is not on localhost and has no TLS. */
export const copyText = async (text: string, what: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    toast(`${what} is copied`)
  } catch {
    toast(`${what} cannot be copied: the browser does not allow it`, "error")
  }
}
