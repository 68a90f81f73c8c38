import type { Subscription } from "@colloquy/core/model/Subscription"
import * as Subscriptions from "@colloquy/core/endpoints/Subscriptions"
import * as Me from "@colloquy/core/endpoints/Me"
import * as Settings from "@colloquy/core/client/Settings"
import * as Webhook from "@colloquy/core/inbox/Webhook"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { existsSync, readFileSync } from "node:fs"
import * as tls from "node:tls"
import { explainCode, explainNetwork } from "../base/network.ts"
import { headOf, probe } from "../base/probe.ts"
import { type Check, named, ok, type Outcome, problem, skipped, warning } from "./check.ts"
import { handshake } from "./tls.ts"

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The token, by `GET /me`. */
export const checkToken = Me.get().pipe(
  Effect.map((me) =>
    ok(`the bot is ${me.first_name}${me.username == null ? "" : ` (@${me.username})`}, id ${me.user_id}`)
  ),
  Effect.orElseSucceed((error) =>
    error._tag === "Unauthorized"
      ? problem(
          "the platform rejects the token",
          "Set BOT_TOKEN to the token of the bot, without Bearer and without blanks."
        )
      : problem(
          `GET /me failed: ${messageOf(error)}`,
          "See the check of TLS; check BOT_BASE_URL, BOT_PROXY and the network."
        )
  )
)

const authoritiesIn = (extraCa: string): Result.Result<string, string> => {
  if (extraCa.includes("-----BEGIN")) return Result.succeed(extraCa)
  return existsSync(extraCa)
    ? Result.try({ try: () => readFileSync(extraCa, "utf8"), catch: messageOf })
    : Result.fail(`the file ${extraCa} does not exist`)
}

/** TLS to the API, with the default authorities of Node and the extra authority. */
export const checkTls = Effect.fnUntraced(function* (baseUrl: string, extraCa: string | undefined, hasProxy: boolean) {
  const url = new URL(baseUrl)
  if (url.protocol === "http:") return skipped(`${url.origin} does not use TLS`)
  if (hasProxy) return skipped("BOT_PROXY is set; the check of the token goes through the proxy")
  const system = tls.getCACertificates("default")
  const plain = yield* Effect.result(handshake(url, system))
  if (Result.isFailure(plain)) {
    return problem(`${url.host} cannot be reached`, `The reason: ${explainNetwork(plain.failure)}`)
  }
  if (extraCa === undefined) {
    const { untrusted } = plain.success
    return untrusted === undefined
      ? ok(`the certificate of ${url.host} is trusted by Node`)
      : problem(
          `the certificate of ${url.host} is not trusted by Node: ${explainCode(untrusted)}`,
          "If the API has a certificate of an authority that the system does not know, set BOT_EXTRA_CA to the PEM file of its root."
        )
  }
  const authorities = authoritiesIn(extraCa)
  if (Result.isFailure(authorities)) {
    return problem(
      `BOT_EXTRA_CA cannot be read: ${authorities.failure}`,
      "Set BOT_EXTRA_CA to a PEM file or to PEM text."
    )
  }
  const extra = yield* Effect.result(handshake(url, [...system, authorities.success]))
  const untrusted = Result.isSuccess(extra) ? extra.success.untrusted : "ERROR"
  if (untrusted !== undefined) {
    return problem(
      `the certificate of ${url.host} is not trusted, not even with BOT_EXTRA_CA: ${explainCode(untrusted)}`,
      "Set BOT_EXTRA_CA to the PEM file of the root that issued the certificate of the API."
    )
  }
  return plain.success.untrusted === undefined
    ? ok(`the certificate of ${url.host} is trusted by Node; BOT_EXTRA_CA is not needed`)
    : ok(`the certificate of ${url.host} is trusted with BOT_EXTRA_CA`)
})

const maxSkew = 30_000

/** The clock of this machine, compared with the header `Date` of the API. */
export const checkClock = (baseUrl: string, hasProxy: boolean): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    if (hasProxy) return skipped("BOT_PROXY is set")
    // The answer needs no token, and its content is not used: only the time of the server is read.
    const { headers } = yield* headOf(new URL(baseUrl), { method: "HEAD", rejectUnauthorized: false })
    const server = Date.parse(headers.date ?? "")
    if (Number.isNaN(server)) return skipped("the API does not send its time")
    const seconds = Math.round((Date.now() - server) / 1000)
    return Math.abs(seconds) * 1000 <= maxSkew
      ? ok(`differs from the clock of the API by ${Math.abs(seconds)} s`)
      : problem(
          `is ${Math.abs(seconds)} s ${seconds > 0 ? "ahead of" : "behind"} the clock of the API`,
          "Set the clock of this machine by NTP, for example with `timedatectl set-ntp true`."
        )
  }).pipe(Effect.orElseSucceed(() => skipped("the API cannot be reached")))

const day = 86_400_000

/** Whether the address of a subscription answers with a certificate that the platform takes. */
const checkAddress = Effect.fnUntraced(function* ({ url: address }: Subscription) {
  const url = URL.parse(address)
  if (url === null) return problem(`${address} is not a URL`, "Subscribe an https:// URL.")
  if (url.protocol === "http:") return skipped(`${address} does not use TLS; only the emulator delivers to it`)
  // The platform trusts public authorities only, not the authorities of this machine.
  const found = yield* Effect.result(handshake(url, tls.rootCertificates))
  if (Result.isFailure(found)) {
    return problem(`${url.host} cannot be reached from here`, `The reason: ${explainNetwork(found.failure)}`)
  }
  const { expiresAt, untrusted } = found.success
  if (untrusted !== undefined) {
    return problem(`the platform does not deliver to ${url.host}`, `The reason: ${explainCode(untrusted)}`)
  }
  const days = Math.floor((expiresAt - Date.now()) / day)
  return days < 14
    ? warning(
        `the certificate of ${url.host} expires in ${days} days`,
        "Renew it, and check that it is renewed automatically."
      )
    : ok(`the certificate of ${url.host} is valid for ${days} days`)
})

/** Compares the subscribed addresses with the one of the settings. */
const compareAddresses = (urls: ReadonlyArray<string>, configured: string | undefined): Outcome => {
  if (configured === undefined) {
    if (urls.length === 0) return ok("no webhook is subscribed; long polling receives the updates")
    return warning(
      `${urls.join(", ")} receives the updates, so long polling receives none`,
      "Set BOT_WEBHOOK_URL for a bot with a webhook, or run `colloquy subscriptions remove URL` for one with long polling."
    )
  }
  if (!urls.includes(configured)) {
    return problem(
      `BOT_WEBHOOK_URL ${configured} is not subscribed`,
      `Start the bot, which subscribes it, or run \`colloquy subscriptions set ${configured}\`.`
    )
  }
  if (urls.length === 1) return ok(`${configured} is subscribed`)
  return warning(
    `besides ${configured}, ${urls.filter((url) => url !== configured).join(", ")} is subscribed`,
    "If it is not needed any more, run `colloquy subscriptions remove URL`."
  )
}

/** The subscriptions, compared with the settings, and the certificates of their addresses. */
export const checkSubscriptions = (configured: string | undefined) =>
  Effect.gen(function* () {
    const subscriptions = yield* Subscriptions.list()
    const urls = subscriptions.map(({ url }) => url)
    const certificates = yield* Effect.forEach(subscriptions, checkAddress, { concurrency: 4 })
    return [
      named("subscriptions")(compareAddresses(urls, configured)),
      ...certificates.map(named("webhook certificate"))
    ]
  }).pipe(
    Effect.orElseSucceed((error): ReadonlyArray<Check> => [
      named("subscriptions")(problem(`GET /subscriptions failed: ${messageOf(error)}`, "See the check of the token."))
    ])
  )

/** Whether the running webhook accepts the secret of the settings. */
export const checkSecret = Effect.fnUntraced(function* (configured: string | undefined) {
  if (configured === undefined) return skipped("BOT_WEBHOOK_URL is not set")
  const { header, secret } = yield* Settings.all({ secret: Webhook.settings.secret, header: Settings.secretHeader })
  if (secret === undefined) {
    return warning(
      "BOT_WEBHOOK_SECRET is not set, so each start generates another secret",
      "Set BOT_WEBHOOK_SECRET, for example to the output of `openssl rand -hex 32`; several processes need the same one."
    )
  }
  return yield* Effect.match(probe(configured, header, Redacted.make(Redacted.value(secret))), {
    onFailure: (reason) => problem(reason, "Check that the bot runs, and that its address leads to it."),
    onSuccess: (isAccepted) =>
      isAccepted
        ? ok(`the webhook accepts the secret in ${header}`)
        : problem(
            `the webhook rejects the secret in ${header}`,
            `Check that the bot runs with the same BOT_WEBHOOK_SECRET, and that no proxy removes the header ${header}.`
          )
  })
})
