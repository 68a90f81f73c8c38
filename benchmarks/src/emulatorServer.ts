/**
 * The emulator as a server in a process of its own, with people who have dialogs with the bot. It sends its URL and their ids to
 * its parent, and on request its memory and how many requests it has accepted and refused: `emulatorServer.ts PEOPLE [LIMITS]`.
 * It has no limits by default.
 */
import type { Chat, User } from "@colloquy/core"
import { Emulator, EmulatorOptions, EmulatorServer } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { endWithParent, onParentMessage, tellParent } from "./processes.ts"

export interface Ready {
  readonly url: string
  readonly people: ReadonlyArray<{ readonly user_id: User.UserId; readonly chat_id: Chat.ChatId }>
}

export interface Usage {
  readonly rss: number
  readonly accepted: number
  readonly refused: number
}

const [people, limits] = process.argv.slice(2)

const serve = Effect.gen(function* () {
  const all = yield* Effect.forEach(Array.from({ length: Number(people) }), (_, index) =>
    Effect.gen(function* () {
      const person = yield* Emulator.user(`Ann ${index}`)
      const { chat_id } = yield* person.start()
      return { user_id: person.user_id, chat_id }
    })
  )
  const { url } = yield* EmulatorServer.EmulatorServer
  let [accepted, refused] = [0, 0]
  if (limits !== undefined) {
    yield* Emulator.intercept((_, answer) =>
      Effect.tap(answer, ({ status }) =>
        Effect.sync(() => {
          if (status === 429) refused++
          else accepted++
        })
      )
    )
  }
  onParentMessage(() => tellParent({ rss: process.memoryUsage.rss(), accepted, refused } satisfies Usage))
  tellParent({ url, people: all } satisfies Ready)
  return yield* Effect.never
})

const platform = EmulatorServer.layer().pipe(
  Layer.provideMerge(
    Emulator.layer({
      token: "token",
      ...(limits === undefined ? {} : { limits: { ...EmulatorOptions.platformLimits, ...JSON.parse(limits) } })
    })
  )
)

endWithParent()
await Effect.runPromise(Effect.scoped(Effect.provide(serve, platform)))
