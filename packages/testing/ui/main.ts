import { mount } from "./App.tsx"
import { keepAddress, restoreAddress } from "./address.ts"
import { follow } from "./events.ts"
import { connection, toast } from "./store.ts"

restoreAddress()
keepAddress()

// The heading is shown until the script runs.
mount(document.getElementById("page")!)

const start = (): void => {
  void follow().catch(() => {
    connection.value = "lost"
    toast("The emulator cannot be reached. Trying again.", "error")
    setTimeout(start, 2000)
  })
}

start()
