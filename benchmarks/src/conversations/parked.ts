/**
 * Prints how much memory in MB the conversations of a process take while they wait for an answer: `parked.ts --parked=100000`.
 * Requires `--expose-gc`.
 */
import { Conversation, Inbox, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { printCosts } from "../child.ts"
import { median } from "../figure.ts"
import * as places from "../inbox/places.ts"
import { layerSource } from "../inbox/traffic.ts"
import { botOf, makeForm, writeAll } from "./form.ts"
import { parked } from "./options.ts"
import * as platform from "./platform.ts"

const form = makeForm(2)

const page = 500

const parts = 10

const size = Math.ceil(parked / parts)

/** The caches and the compiled code of the process have their size after these. */
const warmUp = 5000

const begin = Effect.fnUntraced(function* (first: number, count: number) {
  for (let done = 0; done < count; done += page) {
    yield* writeAll(Math.min(page, count - done), 1, "/begin", first + done)
  }
})

/** The memory of the heap and of buffers, in MB, when nothing is left to collect. */
const memory = Effect.gen(function* () {
  yield* Effect.sleep("1 second")
  for (let times = 0; times < 5; times++) gc!()
  const { arrayBuffers, external, heapUsed } = process.memoryUsage()
  return (heapUsed + external + arrayBuffers) / 1e6
})

const measure = Effect.gen(function* () {
  yield* Effect.forkScoped(Updates.run(botOf(form)))
  yield* begin(1, warmUp)
  const sizes = [yield* memory]
  for (let part = 0; part < parts; part++) {
    yield* begin(1 + warmUp + part * size, size)
    sizes.push(yield* memory)
  }
  const count = yield* Stream.runCount(Conversation.stream(form))
  if (count !== warmUp + parts * size) throw new Error(`${count} conversations run`)
  // Single differences contain what the process collects late, and the code that it compiles.
  return median(sizes.slice(1).map((size, part) => size - sizes[part])) * parts
})

await places.withPlace("sqlite", async (place) => {
  const growth = await Effect.runPromise(
    Effect.scoped(measure).pipe(
      Effect.provide(
        layerSource(() => Effect.never).pipe(
          Layer.provideMerge(Inbox.layer()),
          Layer.provide(places.layer(place)),
          Layer.provideMerge(platform.layer()),
          Layer.provideMerge(Logger.layer([]))
        )
      )
    )
  )
  printCosts({ parked: [growth] })
})
process.exit()
