// The declarations of the files of undici, for every program that compiles this file.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./undici.d.ts" />
// The index of undici loads a fetch, a WebSocket, caches and mocks too, which are half of the code of a small bot. Bun replaces
// the module "undici" by its own module, which has no dispatchers, but does not replace a file of the package.
import connect from "undici/lib/api/api-connect.js"
import errors from "undici/lib/core/errors.js"
import Agent from "undici/lib/dispatcher/agent.js"
import Pool from "undici/lib/dispatcher/pool.js"
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js"
import type * as Undici from "undici/index.js"
import { isPublicHost, PrivateAddress } from "@colloquy/core/client/PublicHost"
import dns, { type LookupAddress } from "node:dns"
import { isIPv6, type LookupFunction } from "node:net"
import type { SecureContext } from "node:tls"

export interface ProxyAddress {
  readonly origin: string
  readonly authorization: string | undefined
}

interface DispatcherOptions {
  readonly secureContext: SecureContext | undefined
  readonly proxy: ProxyAddress | undefined
  readonly connections: number
  /** Milliseconds; 0 is no limit. */
  readonly connectTimeout: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  /** Whether the names of hosts may have public addresses only. With a proxy, the proxy resolves the names. */
  readonly isPublicOnly: boolean
}

/** The proxy responded to `CONNECT` with a status other than 200. */
class ProxyRefused extends Error {
  override readonly name = "ProxyRefused"
  readonly code = "ERR_PROXY_REFUSED"
  readonly statusCode: number
  constructor(statusCode: number) {
    super(`The proxy refused to open a tunnel: it responded with ${statusCode}`)
    this.statusCode = statusCode
  }
}

// A tunnel that the proxy does not open is reported as a failure to connect.
const tunnelErrors: Undici.Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (controller, status, headers, text) =>
      handler.onResponseStart?.(controller, status, headers, text),
    onRequestUpgrade(controller, status, headers, socket) {
      if (status === 200) return handler.onRequestUpgrade?.(controller, status, headers, socket)
      socket.on("error", () => {}).destroy()
      handler.onResponseError?.(controller, new ProxyRefused(status))
    },
    onResponseError: (controller, error) =>
      handler.onResponseError?.(
        controller,
        error instanceof errors.HeadersTimeoutError
          ? new errors.ConnectTimeoutError("The proxy did not open a tunnel in time")
          : error
      )
  })

/** The connections to a proxy. Only the index of undici gives its dispatchers the method. */
class ProxyPool extends Pool {
  override connect = connect
}

/** Resolves a name, and fails if one of its addresses is not public, so that no connection is opened. */
const lookupPublic: LookupFunction = (host, options, callback) => {
  dns.lookup(host, { ...options, all: true }, (error, addresses: ReadonlyArray<LookupAddress>) => {
    if (error !== null) return callback(error, "")
    const found = addresses.find(({ address }) => !isPublicHost(isIPv6(address) ? hostnameOf(address) : address))
    if (found !== undefined) return callback(new PrivateAddress({ host, address: found.address }), "")
    const [first] = addresses
    if (options.all === true) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  })
}

/** The address as `URL.hostname` has it. An address with a zone is a local address, which is no URL. */
const hostnameOf = (address: string): string => URL.parse(`http://[${address}]`)?.hostname ?? "[::1]"

export const makeDispatcher = (options: DispatcherOptions): Undici.Dispatcher => {
  const { connections, connectTimeout, headersTimeout, bodyTimeout, proxy, secureContext } = options
  const tls = secureContext === undefined ? {} : { secureContext }
  const publicOnly = options.isPublicOnly ? { lookup: lookupPublic } : {}
  const common = { connections, connectTimeout, headersTimeout, bodyTimeout }
  if (proxy === undefined) return new Agent({ ...common, connect: { ...tls, ...publicOnly } })
  return new ProxyAgent({
    ...common,
    uri: proxy.origin,
    ...(proxy.authorization === undefined ? undefined : { token: proxy.authorization }),
    proxyTunnel: true,
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (origin, options) =>
      new ProxyPool(origin, { ...options, headersTimeout: connectTimeout }).compose(tunnelErrors)
  })
}
