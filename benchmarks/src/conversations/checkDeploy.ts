/** Prints how long `colloquy check-deploy` takes in ms for 10,000 conversations that wait for an answer in SQLite, with its start. */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { printCosts } from "../child.ts"
import * as places from "../inbox/places.ts"
import { makeForm, runForm } from "./form.ts"
import * as platform from "./platform.ts"

const count = 10_000

const page = 500

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

await places.withPlace("sqlite", async (place) => {
  const { runtime, write } = runForm(place, makeForm(2), platform.layer())
  for (let done = 0; done < count; done += page) await write(page, 1, "/begin", 1 + done)
  await runtime.dispose()
  const before = performance.now()
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=source", pathOf("../../../packages/cli/src/bin.ts"), "check-deploy", pathOf("formBot.ts")],
    { env: { ...process.env, BOT_INBOX: places.fileOf(place, "inbox.sqlite") }, encoding: "utf8" }
  )
  const millis = performance.now() - before
  if (status !== 0 || !stdout.includes(`${count}`)) throw new Error(`The check failed: ${stdout}${stderr}`)
  printCosts({ check: [millis] })
})
process.exit()
