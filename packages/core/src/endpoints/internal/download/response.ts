import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Transport } from "../../../client/ApiError.ts"
import { isEmpty, lengthOf } from "../../../client/internal/responseText.ts"
import { causesOf, toTransport } from "../../../client/internal/transport.ts"
import { PrivateAddress, PublicHostsOnly } from "../../../client/PublicHost.ts"
import {
  AddressRefused,
  Changed,
  Expired,
  type Reason,
  Redirected,
  Rejected,
  TooLarge,
  WrongLength
} from "../../DownloadError.ts"
import { type Address, check, parse } from "./address.ts"

/** The options of each request. */
export interface Limits {
  readonly maxSize: number
  readonly stallTimeout: Duration.Duration
  readonly privateHosts: ReadonlyArray<string>
  /** The size that the platform states, for a response without a length. */
  readonly statedSize: number | undefined
}

/** How much of a file was received, and what identifies its content. */
export interface Position {
  readonly received: number
  readonly size: number | undefined
  readonly validator: string
}

/** A response with the rest of a file. */
export interface Part {
  readonly size: number | undefined
  readonly validator: string | undefined
  readonly contentType: string | undefined
  /** Whether a request for the rest can follow. */
  readonly isResumable: boolean
  readonly bytes: Stream.Stream<Uint8Array, Reason>
}

export const toReason = (cause: unknown): AddressRefused | Transport => {
  const refused = causesOf(cause).find((inner) => inner instanceof PrivateAddress)
  return refused === undefined ? toTransport(cause) : new AddressRefused({ host: refused.host, problem: "Private" })
}

const stalled = (limits: Limits) =>
  toReason(new Cause.TimeoutError(`No byte was received for ${Duration.format(limits.stallTimeout)}`))

/** Fetch follows redirects itself, unless this option is set. */
const manualRedirects = Effect.contextWith((context: Context.Context<never>) =>
  Effect.succeed({
    ...Context.getOrUndefined(context as Context.Context<FetchHttpClient.RequestInit>, FetchHttpClient.RequestInit),
    redirect: "manual" as const
  })
)

const execute = (
  address: Address,
  headers: Readonly<Record<string, string>>,
  limits: Limits
): Effect.Effect<HttpClientResponse.HttpClientResponse, Reason, HttpClient.HttpClient | Scope.Scope> =>
  Effect.flatMap(HttpClient.HttpClient, (client) =>
    HttpClient.withScope(client).execute(HttpClientRequest.get(address.href, { headers }))
  ).pipe(
    // The address is often the authorization, and trace headers would disclose internals of the program to the host.
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
    Effect.provideService(PublicHostsOnly, !limits.privateHosts.includes(address.hostname)),
    Effect.provideServiceEffect(FetchHttpClient.RequestInit, manualRedirects),
    Effect.mapError(toReason),
    Effect.timeoutOrElse({ duration: limits.stallTimeout, orElse: () => Effect.fail(stalled(limits)) })
  )

const maxRedirects = 5

const redirects = [301, 302, 303, 307, 308]

/** Sends a request, and follows redirects on the same host. */
const follow = Effect.fnUntraced(function* (url: string, headers: Readonly<Record<string, string>>, limits: Limits) {
  let address = parse(url)
  for (let followed = 0; ; followed++) {
    const refused = check(address, limits.privateHosts)
    if (address === undefined || refused !== undefined) return yield* refused!
    const { host, origin } = address
    const response = yield* execute(address, headers, limits)
    // A client that follows redirects itself is at another address already.
    const reached = parse(response.url)
    if (reached !== undefined && reached.origin !== origin) return yield* new Redirected({ host, to: reached.host })
    const { location } = response.headers
    if (!redirects.includes(response.status) || location === undefined) return { address, response }
    address = parse(location, address.href)
    if (address === undefined || address.origin !== origin || followed === maxRedirects) {
      return yield* new Redirected({ host, to: address?.host ?? "" })
    }
  }
})

const validatorOf = (headers: HttpClientResponse.HttpClientResponse["headers"]): string | undefined => {
  const { etag } = headers
  return etag !== undefined && etag.startsWith('"') ? etag : headers["last-modified"]
}

/** The first byte and the size of the file in a `Content-Range`. */
const rangeOf = (headers: HttpClientResponse.HttpClientResponse["headers"]) => {
  const [, first, size] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(headers["content-range"] ?? "") ?? []
  return first === undefined ? undefined : { first: Number(first), size: size === "*" ? undefined : Number(size) }
}

/** Reads a body, and checks its length. */
const bytesOf = (
  response: HttpClientResponse.HttpClientResponse,
  from: number,
  size: number | undefined,
  limits: Limits
): Stream.Stream<Uint8Array, Reason> =>
  Stream.suspend(() => {
    let received = from
    return response.stream.pipe(
      Stream.catchIf(isEmpty, () => Stream.empty),
      Stream.mapError((cause): Reason => toReason(cause)),
      Stream.timeoutOrElse({ duration: limits.stallTimeout, orElse: () => Stream.fail<Reason>(stalled(limits)) }),
      Stream.mapEffect((bytes): Effect.Effect<Uint8Array, Reason> => {
        received += bytes.byteLength
        if (received > limits.maxSize) return Effect.fail(new TooLarge({ maxSize: limits.maxSize }))
        if (size !== undefined && received > size) return Effect.fail(new WrongLength({ received, size }))
        return Effect.succeed(bytes)
      }),
      Stream.concat(
        Stream.suspend(() =>
          size === undefined || received === size ? Stream.empty : Stream.fail(new WrongLength({ received, size }))
        )
      )
    )
  })

/** Statuses of an address that has worked before. */
const expiredStatuses = [401, 403, 404, 410]

/** Requests a file, or the rest of a file from a position. The end of the scope closes the connection. */
export const request = Effect.fnUntraced(function* (
  url: string,
  position: Position | undefined,
  limits: Limits
): Effect.fn.Return<Part, Reason, HttpClient.HttpClient | Scope.Scope> {
  const { address, response } = yield* follow(
    url,
    {
      "accept-encoding": "identity",
      ...(position === undefined ? {} : { range: `bytes=${position.received}-`, "if-range": position.validator })
    },
    limits
  )
  const { headers, status } = response
  if (expiredStatuses.includes(status)) return yield* new Expired({ status, isRenewed: false })
  // With another content, a host that knows `If-Range` responds with the whole file.
  if (position !== undefined && (status === 200 || status === 416)) return yield* new Changed()
  if (status !== (position === undefined ? 200 : 206)) return yield* new Rejected({ host: address.host, status })
  const from = position?.received ?? 0
  const length = lengthOf(headers)
  const range = position === undefined ? undefined : rangeOf(headers)
  const size = range?.size ?? position?.size ?? (length === undefined ? limits.statedSize : from + length)
  const validator = validatorOf(headers) ?? position?.validator
  if (position !== undefined) {
    const isContinued =
      range?.first === from &&
      validator === position.validator &&
      (position.size === undefined || position.size === size)
    if (!isContinued) return yield* new Changed()
  }
  if (size !== undefined && size > limits.maxSize) return yield* new TooLarge({ maxSize: limits.maxSize, size })
  return {
    size,
    validator,
    contentType: headers["content-type"],
    isResumable: validator !== undefined && (status === 206 || headers["accept-ranges"] === "bytes"),
    bytes: bytesOf(response, from, size, limits)
  }
})
