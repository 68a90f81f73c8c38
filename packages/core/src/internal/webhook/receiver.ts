import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type { Inbox, ReceiveError, Received } from "../../Inbox.ts"
import { type BodyRefused, packingOf, read, readPacked } from "./body.ts"
import { type Answer, answer, type Head, ok, tooLarge, tooSlow, unavailable } from "./http.ts"
import { refusedWith } from "./metrics.ts"

interface Options {
  readonly url: string
  readonly inbox: Inbox["Service"]
  readonly storeTimeout: Duration.Duration
}

const alreadyRead =
  "The body of a delivery had been read before it came to the webhook. Mount the webhook before whatever parses bodies " +
  "(such as express.json()), or have that keep the bytes: a parsed body has lost digits of its numbers."

/** Takes the bodies of deliveries in: 200 says that the update stands in the inbox. */
export const makeDesk = Effect.fnUntraced(function* ({ inbox, storeTimeout, url }: Options) {
  const scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context<never>())

  const warn = (message: string) => Effect.annotateLogs(Effect.logWarning(message), { url })

  const redeliver = (why: string) =>
    Effect.andThen(refusedWith(503), Effect.andThen(warn(`A delivery is answered with 503. ${why}`), unavailable))

  const whyNot = (cause: Cause.Cause<ReceiveError>): string =>
    Cause.hasInterruptsOnly(cause) ? "The program stops." : String(Cause.squash(cause))

  const redelivered = (cause: Cause.Cause<ReceiveError>) => redeliver(whyNot(cause))

  const late = Effect.suspend(() => redeliver(`The inbox took more than ${Duration.format(storeTimeout)}.`))

  // Storing goes on when the client hangs up and when it takes too long: what comes again is known by its fingerprint.
  const store = (received: Received): Effect.Effect<Answer> => {
    const storing = fork(inbox.receive([received]))
    const exit = storing.pollUnsafe()
    if (exit !== undefined) return Exit.isSuccess(exit) ? ok : redelivered(exit.cause)
    return Fiber.join(Fiber.runIn(storing, scope)).pipe(
      Effect.matchCauseEffect({ onSuccess: () => ok, onFailure: redelivered }),
      Effect.timeoutOrElse({ duration: storeTimeout, orElse: () => late })
    )
  }

  const take = (received: Received): Effect.Effect<Answer> => {
    const { decoded: read } = received
    if (Result.isSuccess(read)) return store(received)
    const kept = warn(`A delivery cannot be read and is kept as a dead letter: ${read.failure.problem}.`)
    return Effect.tap(store(received), ({ status }) => (status === 200 ? kept : Effect.void))
  }

  const refuse = ({ reason }: BodyRefused): Effect.Effect<Answer> => {
    switch (reason) {
      case "TooLarge":
        return Effect.andThen(refusedWith(413), tooLarge)
      case "TooSlow":
        return Effect.andThen(refusedWith(408), tooSlow)
      case "BrokenOff":
        return Effect.andThen(refusedWith(400), answer(400))
      case "AlreadyRead":
        return refusedWith(500).pipe(
          Effect.andThen(Effect.annotateLogs(Effect.logError(alreadyRead), { url })),
          Effect.andThen(answer(500, { "content-type": "text/plain; charset=utf-8" }, alreadyRead))
        )
    }
  }

  // It begins at once: where the inbox takes an update at once, the answer needs no fiber.
  const accept = ({ header }: Head, body: Uint8Array): Effect.Effect<Answer> => {
    const packing = packingOf(header("content-encoding")) ?? "none"
    if (packing === "none") return take(read(body))
    return Effect.matchEffect(readPacked(packing, body), { onFailure: refuse, onSuccess: take })
  }

  return { accept, refuse }
})
