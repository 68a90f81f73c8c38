/** A project with the program of a reader. */
import { strToU8, zipSync } from "fflate"
import { project } from "virtual:bots"

/** Downloads the project as a ZIP archive. */
export const downloadProject = (program: string): void => {
  const files = Object.entries({ ...project, "src/bot.ts": program })
  const archive = zipSync(Object.fromEntries(files.map(([path, text]) => [`my-bot/${path}`, strToU8(text)])))
  const url = URL.createObjectURL(new Blob([archive as Uint8Array<ArrayBuffer>], { type: "application/zip" }))
  const link = document.createElement("a")
  link.href = url
  link.download = "my-bot.zip"
  link.click()
  URL.revokeObjectURL(url)
}
