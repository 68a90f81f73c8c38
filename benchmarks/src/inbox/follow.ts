import { closeSync, openSync, readSync } from "node:fs"

/** Reads the lines of a file as it grows. */
export const follow = (file: string, onLine: (line: string) => void) => {
  const opened = openSync(file, "r")
  const buffer = Buffer.alloc(1 << 16)
  let rest = ""
  return {
    read: (): void => {
      for (let size = readSync(opened, buffer); size > 0; size = readSync(opened, buffer)) {
        const lines = (rest + buffer.toString("latin1", 0, size)).split("\n")
        rest = lines.pop()!
        for (const line of lines) onLine(line)
      }
    },
    close: () => closeSync(opened)
  }
}
