import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

const paths = [
  process.env["CHROMIUM_PATH"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
]

/** The browser of this machine, if there is one. */
export const executablePath = paths.find((path) => path !== "" && existsSync(path))

const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** Starts the browser, with further arguments of Chromium. */
export const launch = (further: ReadonlyArray<string> = []): Promise<Browser> => {
  if (executablePath === undefined) throw new Error("There is no Chromium: install it, or set CHROMIUM_PATH")
  return chromium.launch({ executablePath, args: [...args, ...further] })
}
