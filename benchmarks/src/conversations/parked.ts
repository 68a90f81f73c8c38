/**
 * Prints how much memory in MB the conversations of a process take while they wait for an answer: `parked.ts --parked=100000`.
 * Requires `--expose-gc`.
 */
import { Conversation } from "@colloquy/core"
import * as Stream from "effect/Stream"
import { setTimeout as sleep } from "node:timers/promises"
import { printCosts } from "../child.ts"
import { median } from "../figure.ts"
import * as places from "../inbox/places.ts"
import { parked } from "../options.ts"
import { makeForm, runForm } from "./form.ts"
import * as platform from "./platform.ts"

const form = makeForm(2)

const page = 500

const parts = 10

const size = Math.ceil(parked / parts)

/** The caches and the compiled code of the process have their size after these. */
const warmUp = 5000

/** The memory of the heap and of buffers, in MB, when nothing is left to collect. */
const memory = async (): Promise<number> => {
  await sleep(1000)
  for (let times = 0; times < 5; times++) gc!()
  const { arrayBuffers, external, heapUsed } = process.memoryUsage()
  return (heapUsed + external + arrayBuffers) / 1e6
}

await places.withPlace("sqlite", async (place) => {
  const { runtime, write } = runForm(place, form, platform.layer())
  const begin = async (first: number, count: number) => {
    for (let done = 0; done < count; done += page) {
      await write(Math.min(page, count - done), 1, "/begin", first + done)
    }
  }
  await begin(1, warmUp)
  const sizes = [await memory()]
  for (let part = 0; part < parts; part++) {
    await begin(1 + warmUp + part * size, size)
    sizes.push(await memory())
  }
  const count = await runtime.runPromise(Stream.runCount(Conversation.stream(form)))
  if (count !== warmUp + parts * size) throw new Error(`${count} conversations run`)
  await runtime.dispose()
  // Single differences contain what the process collects late, and the code that it compiles.
  printCosts({ parked: [median(sizes.slice(1).map((size, part) => size - sizes[part])) * parts] })
})
process.exit()
