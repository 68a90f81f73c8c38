import { render } from "preact"
import { App } from "./App.tsx"
import { follow } from "./events.ts"
import { connection, toast } from "./store.ts"

const root = document.getElementById("page")!
// The heading is shown until the script runs.
root.replaceChildren()
render(<App />, root)

const start = (): void => {
  void follow().catch(() => {
    connection.value = "lost"
    toast("The emulator cannot be reached. Trying again.", "error")
    setTimeout(start, 2000)
  })
}

start()
