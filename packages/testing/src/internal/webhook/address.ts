import { WebhookUrl } from "@colloquy/core/Subscriptions"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Refusal, rejected } from "../http/refusal.ts"

const readAddress = Schema.decodeUnknownResult(WebhookUrl)

const onLoopback = /^http:\/\/(127\.0\.0\.1|localhost)(:\d{1,5})?([/?#]\S*)?$/

const problemOf = (url: string): string | undefined => {
  const read = readAddress(url)
  if (Result.isFailure(read)) return `url: ${read.failure.message.split("\n")[0]}`
  return URL.canParse(url) ? undefined : "url: is not an address"
}

/** Lets an address pass that the platform would deliver to, or one on the loopback where that is switched on. */
export const checkAddress = (url: string, allowsInsecure: boolean): Effect.Effect<void, Refusal> =>
  Effect.suspend(() => {
    if (allowsInsecure && onLoopback.test(url) && URL.canParse(url)) {
      return Effect.logWarning(`The webhook ${url} is not secure: the platform takes https:// only`)
    }
    const problem = problemOf(url)
    return problem === undefined ? Effect.void : rejected(problem)
  })
