/** Opens a page in the browser of the user. */
import { Console, Effect } from "effect"
import { spawn } from "node:child_process"

const commands: Readonly<Record<string, readonly [command: string, ...args: ReadonlyArray<string>]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""]
}

/** Starts the program that opens a URL. If there is none, it prints why. */
export const openBrowser = (url: string): Effect.Effect<void> =>
  Effect.callback<void, Error>((resume) => {
    const [command, ...args] = commands[process.platform] ?? ["xdg-open"]
    const child = spawn(command, [...args, url], { stdio: "ignore", detached: true })
    child.on("error", (error) => resume(Effect.fail(error)))
    child.on("spawn", () => {
      child.unref()
      resume(Effect.void)
    })
  }).pipe(
    Effect.catch(({ message }) => Console.error(`The browser cannot be opened (${message}): open ${url} yourself.`))
  )
