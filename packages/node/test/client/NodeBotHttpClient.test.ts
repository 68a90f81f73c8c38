import { NodeBotHttpClient } from "@colloquy/node"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import { assert, describe, layer } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import type { RequestListener } from "node:http"
import * as https from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as tls from "node:tls"
import * as Certificates from "../support/certificates.ts"
import * as Servers from "../support/servers.ts"

class Chain extends Context.Service<
  Chain,
  {
    readonly root: Certificates.Authority
    readonly intermediate: Certificates.Authority
    readonly leaf: Certificates.Leaf
  }
>()("test/Chain") {
  static readonly layer = Layer.effect(
    Chain,
    Effect.gen(function* () {
      const root = yield* Certificates.makeRoot("Test Root")
      const intermediate = yield* Certificates.makeIntermediate("Test Intermediate", root)
      return { root, intermediate, leaf: yield* Certificates.makeLeaf(intermediate) }
    })
  )
}

const temporaryFile = Effect.fnUntraced(function* (content: string | Uint8Array, name = "root.pem") {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "trust-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true }))
  )
  const path = join(folder, name)
  yield* Effect.promise(() => writeFile(path, content))
  return path
})

const get = (url: string) => Effect.flatMap(HttpClient.get(url), (response) => response.text)

/** The codes of a failure, outermost first, each with its depth below the reason of the `HttpClientError`. */
const codesOf = (error: HttpClientError.HttpClientError): ReadonlyArray<string> => {
  const found: Array<string> = [error.reason._tag]
  let cause: unknown = error.reason.cause
  for (let depth = 1; cause instanceof Error; depth++) {
    found.push(`${depth} ${"code" in cause ? cause.code : "-"}`)
    cause = cause.cause
  }
  return found
}

const failure = (url: string, options?: NodeBotHttpClient.Options) =>
  get(url).pipe(
    Effect.provide(NodeBotHttpClient.layer(options)),
    Effect.catchTags({ ExtraCaError: Effect.die, InvalidSettings: Effect.die }),
    Effect.flip,
    Effect.map(codesOf)
  )

const buildError = (options: NodeBotHttpClient.Options) =>
  Effect.flip(Effect.scoped(Layer.build(NodeBotHttpClient.layer(options))))

const extraCaError = (options: NodeBotHttpClient.Options) =>
  Effect.map(buildError(options), (error) =>
    error._tag === "ExtraCaError" ? error : assert.fail(`unexpected ${error.message}`)
  )

const settingsError = (options: NodeBotHttpClient.Options) =>
  Effect.map(buildError(options), (error) =>
    error._tag === "InvalidSettings" ? error : assert.fail(`unexpected ${error.message}`)
  )

const withConfig = (env: Record<string, string>) =>
  NodeBotHttpClient.layerConfig().pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))

const recordUpload =
  (uploads: Array<{ readonly type: string; readonly body: Buffer }>): RequestListener =>
  (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      uploads.push({ type: request.headers["content-type"] ?? "", body: Buffer.concat(chunks) })
      response.end(String(Buffer.concat(chunks).length))
    })
  }

const upload = Effect.fnUntraced(function* (url: string, content: Buffer<ArrayBuffer>) {
  const form = new FormData()
  form.append("data", new Blob([content]), "video.bin")
  const response = yield* HttpClient.execute(HttpClientRequest.post(url).pipe(HttpClientRequest.bodyFormData(form)))
  return yield* response.text
})

layer(Chain.layer, { excludeTestServices: true })("NodeBotHttpClient", (it) => {
  describe("extraCa", () => {
    it.effect("makes a server trusted that is not trusted without it", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const url = yield* Servers.serveTls(leaf, [intermediate.pem])
        assert.deepStrictEqual(yield* failure(url), ["TransportError", "1 UNABLE_TO_GET_ISSUER_CERT_LOCALLY"])
        assert.strictEqual(yield* Effect.provide(get(url), NodeBotHttpClient.layer({ extraCa: root.pem })), "ok")
      })
    )

    it.effect("is a path, a text on one line, or several of either", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const url = yield* Servers.serveTls(leaf, [intermediate.pem])
        const other = yield* Certificates.makeRoot("Other Root")
        const path = yield* temporaryFile(`a comment\r\n${other.pem}\n${root.pem}`)
        const oneLine = root.pem.replaceAll("\n", "\\n")
        for (const extraCa of [path, oneLine, [other.pem, path], [other.pem, root.pem], other.pem + root.pem]) {
          assert.strictEqual(yield* Effect.provide(get(url), NodeBotHttpClient.layer({ extraCa })), "ok")
        }
      })
    )

    it.effect("completes the chain of a server that does not send its intermediate certificate", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const url = yield* Servers.serveTls(leaf, [])
        const trusting = (extraCa: string) => NodeBotHttpClient.layer({ extraCa })
        assert.strictEqual(yield* Effect.provide(get(url), trusting(root.pem + intermediate.pem)), "ok")
      })
    )

    it.effect("is trusted in addition to the default root certificates", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const usual = yield* Certificates.makeRoot("Usual Root")
        const before = tls.getCACertificates("default")
        yield* Effect.acquireRelease(
          Effect.sync(() => tls.setDefaultCACertificates([...before, usual.pem])),
          () => Effect.sync(() => tls.setDefaultCACertificates(before))
        )
        const extraServer = yield* Servers.serveTls(leaf, [intermediate.pem])
        const usualServer = yield* Servers.serveTls(yield* Certificates.makeLeaf(usual), [])
        const both = Effect.all([get(extraServer), get(usualServer)])
        assert.deepStrictEqual(yield* Effect.provide(both, NodeBotHttpClient.layer({ extraCa: root.pem })), [
          "ok",
          "ok"
        ])
      })
    )

    it.effect("does not affect other clients of the process", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const url = yield* Servers.serveTls(leaf, [intermediate.pem])
        const globals = () => ({
          roots: tls.getCACertificates("default"),
          bundled: tls.rootCertificates,
          extra: process.env["NODE_EXTRA_CA_CERTS"],
          agent: https.globalAgent.options.ca,
          dispatcher: Undici.getGlobalDispatcher()
        })
        const before = globals()
        yield* Effect.gen(function* () {
          assert.strictEqual(yield* get(url), "ok")
          const plain = yield* get(url).pipe(Effect.provide(Layer.fresh(NodeHttpClient.layerUndici)), Effect.flip)
          assert.deepStrictEqual(codesOf(plain), ["TransportError", "1 UNABLE_TO_GET_ISSUER_CERT_LOCALLY"])
          const viaFetch = yield* Effect.promise(() => fetch(url).then(String, (error: Error) => error.cause))
          assert.propertyVal(viaFetch, "code", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY")
          const viaAgent = yield* Effect.callback<unknown>((resume) => {
            https
              .get(url, () => resume(Effect.succeed("answered")))
              .on("error", (error) => resume(Effect.succeed(error)))
          })
          assert.propertyVal(viaAgent, "code", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY")
        }).pipe(Effect.provide(NodeBotHttpClient.layer({ extraCa: root.pem })))
        const after = globals()
        assert.deepStrictEqual(after.roots, before.roots)
        assert.strictEqual(after.bundled, before.bundled)
        assert.strictEqual(after.extra, before.extra)
        assert.strictEqual(after.agent, before.agent)
        assert.strictEqual(after.dispatcher, before.dispatcher)
      })
    )

    it.effect("applies to uploads as well as to calls", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const uploads: Array<{ readonly type: string; readonly body: Buffer }> = []
        const url = yield* Servers.serveTls(leaf, [intermediate.pem], recordUpload(uploads))
        const content = Buffer.alloc(3 * 1024 * 1024, "0123456789abcdef")
        const refused = yield* upload(url, content).pipe(Effect.provide(NodeBotHttpClient.layer()), Effect.flip)
        assert.strictEqual(refused._tag, "HttpClientError")
        assert.lengthOf(uploads, 0)
        yield* Effect.provide(upload(url, content), NodeBotHttpClient.layer({ extraCa: root.pem }))
        assert.match(uploads[0].type, /^multipart\/form-data; boundary=/)
        assert.isTrue(uploads[0].body.includes(content))
        assert.isTrue(uploads[0].body.includes('name="data"; filename="video.bin"'))
      })
    )
  })

  describe("ExtraCaError", () => {
    it.effect("names a file that does not exist", () =>
      Effect.gen(function* () {
        const error = yield* extraCaError({ extraCa: "/nowhere/root.pem" })
        assert.strictEqual(error.problem, "Unreadable")
        assert.strictEqual(error.path, "/nowhere/root.pem")
        assert.match(
          error.message,
          /^extraCa \(BOT_EXTRA_CA\): cannot read \/nowhere\/root\.pem \(ENOENT\)\. Give the path/
        )
      })
    )

    it.effect("rejects a folder", () =>
      Effect.gen(function* () {
        const error = yield* extraCaError({ extraCa: tmpdir() })
        assert.strictEqual(error.problem, "Unreadable")
        assert.match(error.message, /\(EISDIR\)/)
      })
    )

    it.effect("says how to convert a binary file", () =>
      Effect.gen(function* () {
        const { root } = yield* Chain
        const path = yield* temporaryFile(new Uint8Array(root.certificate.rawData), "root.der")
        const error = yield* extraCaError({ extraCa: path })
        assert.strictEqual(error.problem, "NoCertificate")
        assert.include(error.message, "openssl x509 -inform der")
      })
    )

    it.effect("rejects a private key without repeating it", () =>
      Effect.gen(function* () {
        const { leaf } = yield* Chain
        const bare = leaf.key.replace(/-----[A-Z ]+-----/g, "").trim()
        for (const extraCa of [leaf.key, bare, bare.replaceAll(/\s/g, ""), yield* temporaryFile(leaf.key)]) {
          const error = yield* extraCaError({ extraCa })
          assert.strictEqual(error.problem, "NoCertificate")
          const shown = `${error} ${JSON.stringify(error)} ${error.stack} ${error.cause}`
          for (const line of bare.split("\n")) assert.notInclude(shown, line.trim())
        }
      })
    )

    it.effect("says which certificate is damaged or incomplete", () =>
      Effect.gen(function* () {
        const { root } = yield* Chain
        const cut = root.pem.slice(0, root.pem.length / 2)
        const damaged = root.pem.replace(/\n[^\n]{8}/, "\nAAAAAAAA")
        for (const [text, which] of [
          [root.pem + cut, "2 of 2"],
          [`${cut}\n${root.pem}`, "1 of 2"],
          [damaged, "1 of 1"]
        ] as const) {
          const path = yield* temporaryFile(text)
          const error = yield* extraCaError({ extraCa: path })
          assert.strictEqual(error.problem, "Malformed")
          assert.include(error.message, `certificate ${which} in ${path} is incomplete or damaged`)
        }
      })
    )

    it.effect("names an expired root certificate and its date", () =>
      Effect.gen(function* () {
        const old = yield* Certificates.makeRoot("Old Root", Certificates.expired)
        const error = yield* extraCaError({ extraCa: old.pem })
        assert.strictEqual(error.problem, "Expired")
        assert.include(error.message, `"CN=Old Root" in the PEM text expired at`)
        assert.include(error.message, old.certificate.notAfter.toISOString())
      })
    )

    it.effect("rejects an intermediate certificate without its root", () =>
      Effect.gen(function* () {
        const { intermediate } = yield* Chain
        const error = yield* extraCaError({ extraCa: intermediate.pem })
        assert.strictEqual(error.problem, "NotARoot")
        assert.include(error.message, `"CN=Test Intermediate" was issued by "CN=Test Root"`)
      })
    )
  })

  describe("a failed request has a code in its chain of causes", () => {
    it.effect("for an unknown root certificate that the server sends", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const url = yield* Servers.serveTls(leaf, [intermediate.pem, root.pem])
        assert.deepStrictEqual(yield* failure(url), ["TransportError", "1 SELF_SIGNED_CERT_IN_CHAIN"])
      })
    )

    it.effect("for a chain without its intermediate certificate", () =>
      Effect.gen(function* () {
        const { root, leaf } = yield* Chain
        const url = yield* Servers.serveTls(leaf, [])
        assert.deepStrictEqual(yield* failure(url, { extraCa: root.pem }), [
          "TransportError",
          "1 UNABLE_TO_VERIFY_LEAF_SIGNATURE"
        ])
      })
    )

    it.effect("for a self-signed certificate", () =>
      Effect.gen(function* () {
        const url = yield* Servers.serveTls(yield* Certificates.makeSelfSigned(), [])
        assert.deepStrictEqual(yield* failure(url), ["TransportError", "1 DEPTH_ZERO_SELF_SIGNED_CERT"])
      })
    )

    it.effect("for an expired and a not yet valid certificate", () =>
      Effect.gen(function* () {
        const { root } = yield* Chain
        const day = 24 * 60 * 60 * 1000
        const future = { from: new Date(Date.now() + day), to: new Date(Date.now() + 2 * day) }
        const old = yield* Servers.serveTls(yield* Certificates.makeLeaf(root, undefined, Certificates.expired), [])
        const young = yield* Servers.serveTls(yield* Certificates.makeLeaf(root, undefined, future), [])
        const options = { extraCa: root.pem }
        assert.deepStrictEqual(yield* failure(old, options), ["TransportError", "1 CERT_HAS_EXPIRED"])
        assert.deepStrictEqual(yield* failure(young, options), ["TransportError", "1 CERT_NOT_YET_VALID"])
      })
    )

    it.effect("for a certificate of another host", () =>
      Effect.gen(function* () {
        const { root } = yield* Chain
        const leaf = yield* Certificates.makeLeaf(root, [{ type: "dns", value: "elsewhere.example" }])
        const url = yield* Servers.serveTls(leaf, [])
        assert.deepStrictEqual(yield* failure(url, { extraCa: root.pem }), [
          "TransportError",
          "1 ERR_TLS_CERT_ALTNAME_INVALID"
        ])
      })
    )

    it.effect("for a refused connection", () =>
      Effect.gen(function* () {
        const port = yield* Servers.closedPort
        assert.deepStrictEqual(yield* failure(`http://127.0.0.1:${port}`), ["TransportError", "1 ECONNREFUSED"])
        assert.deepStrictEqual(yield* failure(`https://127.0.0.1:${port}`), ["TransportError", "1 ECONNREFUSED"])
      })
    )

    it.effect("for a server without TLS", () =>
      Effect.gen(function* () {
        const url = yield* Servers.serve((_, response) => void response.end("ok"))
        assert.deepStrictEqual(yield* failure(url.replace("http:", "https:")), [
          "TransportError",
          "1 ERR_SSL_WRONG_VERSION_NUMBER"
        ])
      })
    )

    it.effect("for an unknown host name", () =>
      Effect.gen(function* () {
        const [tag, code] = yield* failure("https://nothing.invalid")
        assert.strictEqual(tag, "TransportError")
        assert.include(["1 ENOTFOUND", "1 EAI_AGAIN"], code)
      })
    )

    it.effect("for a TLS handshake that does not finish", () =>
      Effect.gen(function* () {
        const port = yield* Servers.serveSockets("silent")
        assert.deepStrictEqual(yield* failure(`https://localhost:${port}`, { connectTimeout: "20 millis" }), [
          "TransportError",
          "1 UND_ERR_CONNECT_TIMEOUT"
        ])
      })
    )

    it.effect("for a response that does not start", () =>
      Effect.gen(function* () {
        const url = yield* Servers.serve(() => {})
        assert.deepStrictEqual(yield* failure(url, { headersTimeout: "20 millis" }), [
          "TransportError",
          "1 UND_ERR_HEADERS_TIMEOUT"
        ])
      })
    )

    it.effect("for a response that stalls", () =>
      Effect.gen(function* () {
        const url = yield* Servers.serve((_, response) => void response.writeHead(200).write("half"))
        assert.deepStrictEqual(yield* failure(url, { bodyTimeout: "20 millis" }), [
          "DecodeError",
          "1 UND_ERR_BODY_TIMEOUT"
        ])
      })
    )

    it.effect("for a connection that ends", () =>
      Effect.gen(function* () {
        const ends = yield* Servers.serve((_, response) => {
          response.writeHead(200, { "content-length": "100" }).write("half", () => response.socket?.end())
        })
        const early = yield* Servers.serve((request) => void request.socket.resetAndDestroy())
        assert.deepStrictEqual(yield* failure(ends), ["DecodeError", "1 UND_ERR_SOCKET"])
        assert.deepStrictEqual(yield* failure(early), ["TransportError", "1 ECONNRESET"])
      })
    )

    it.effect("for a connection that breaks inside a response", () =>
      Effect.gen(function* () {
        const breaks = yield* Servers.serve((_, response) => {
          response.writeHead(200, { "content-length": "100" }).write("half", () => response.socket?.resetAndDestroy())
        })
        assert.deepStrictEqual(yield* failure(breaks), ["DecodeError", "1 ECONNRESET"])
      })
    )
  })

  describe("the time-outs", () => {
    it.effect("do not end a response that keeps arriving", () =>
      Effect.gen(function* () {
        const url = yield* Servers.serve((_, response) => {
          response.writeHead(200)
          let left = 7
          const timer = setInterval(() => {
            response.write("x")
            if (--left === 0) {
              clearInterval(timer)
              response.end()
            }
          }, 400)
        })
        const text = yield* Effect.provide(get(url), NodeBotHttpClient.layer({ bodyTimeout: "1500 millis" }))
        assert.strictEqual(text, "xxxxxxx")
      })
    )

    it.effect("end a stalled upload after headersTimeout", () =>
      Effect.gen(function* () {
        const url = yield* Servers.serve((request) => void request.pause())
        const error = yield* upload(url, Buffer.alloc(16 * 1024 * 1024)).pipe(
          Effect.provide(NodeBotHttpClient.layer({ headersTimeout: "20 millis" })),
          Effect.catchTags({ ExtraCaError: Effect.die, InvalidSettings: Effect.die }),
          Effect.flip
        )
        assert.deepStrictEqual(codesOf(error), ["TransportError", "1 UND_ERR_HEADERS_TIMEOUT"])
      })
    )

    it.effect("must be longer than zero, and can be Infinity", () =>
      Effect.gen(function* () {
        for (const setting of ["connectTimeout", "headersTimeout", "bodyTimeout"] as const) {
          const error = yield* settingsError({ [setting]: "0 seconds" })
          assert.include(error.message, `${setting} must be a duration longer than zero`)
        }
        const url = yield* Servers.serve((_, response) => void response.end("ok"))
        const endless = { connectTimeout: "Infinity", headersTimeout: "Infinity", bodyTimeout: "Infinity" } as const
        assert.strictEqual(yield* Effect.provide(get(url), NodeBotHttpClient.layer(endless)), "ok")
      })
    )
  })

  describe("the proxy", () => {
    it.effect("tunnels calls and uploads to https, with the extra root certificate", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const uploads: Array<{ readonly type: string; readonly body: Buffer }> = []
        const url = yield* Servers.serveTls(leaf, [intermediate.pem], recordUpload(uploads))
        const proxy = yield* Servers.serveProxy("bot:se cret")
        const content = Buffer.alloc(2 * 1024 * 1024, "fedcba9876543210")
        const options = {
          extraCa: root.pem,
          proxy: Redacted.make(`http://bot:se%20cret@${proxy.address}`),
          connections: 1
        }
        yield* Effect.provide(Effect.andThen(get(url), upload(url, content)), NodeBotHttpClient.layer(options))
        assert.lengthOf(uploads, 2)
        assert.isTrue(uploads[1].body.includes(content))
        assert.deepStrictEqual(
          proxy.tunnels.map((tunnel) => tunnel.target),
          [new URL(url).host]
        )
        assert.lengthOf(proxy.plainRequests, 0)
      })
    )

    it.effect("tunnels plain http", () =>
      Effect.gen(function* () {
        const url = yield* Servers.serve((request, response) => void response.end(JSON.stringify(request.headers)))
        const proxy = yield* Servers.serveProxy("bot:secret")
        const options = { proxy: `http://bot:secret@${proxy.address}` }
        const headers = yield* Effect.provide(get(url), NodeBotHttpClient.layer(options))
        assert.notInclude(headers, "proxy-authorization")
        assert.lengthOf(proxy.tunnels, 1)
        assert.lengthOf(proxy.plainRequests, 0)
      })
    )

    it.effect("does not make an untrusted server trusted", () =>
      Effect.gen(function* () {
        const { intermediate, leaf } = yield* Chain
        const url = yield* Servers.serveTls(leaf, [intermediate.pem])
        const proxy = yield* Servers.serveProxy()
        assert.deepStrictEqual(yield* failure(url, { proxy: `http://${proxy.address}` }), [
          "TransportError",
          "1 UNABLE_TO_GET_ISSUER_CERT_LOCALLY"
        ])
        assert.lengthOf(proxy.tunnels, 1)
      })
    )

    it.effect("has different codes for a refused password, an unreachable server and a missing proxy", () =>
      Effect.gen(function* () {
        const closed = yield* Servers.closedPort
        const locked = yield* Servers.serveProxy("bot:right")
        const open = yield* Servers.serveProxy()
        const request = (url: string, proxy: string) =>
          get(url).pipe(
            Effect.provide(NodeBotHttpClient.layer({ proxy })),
            Effect.catchTags({ ExtraCaError: Effect.die, InvalidSettings: Effect.die }),
            Effect.flip
          )
        for (const scheme of ["http", "https"]) {
          const url = `${scheme}://127.0.0.1:${closed}`
          const refused = yield* request(url, `http://bot:wrong-secret@${locked.address}`)
          assert.deepStrictEqual(codesOf(refused), ["TransportError", "1 ERR_PROXY_REFUSED"])
          assert.propertyVal(refused.reason.cause, "statusCode", 407)
          const unreachable = yield* request(url, `http://${open.address}`)
          assert.deepStrictEqual(codesOf(unreachable), ["TransportError", "1 ERR_PROXY_REFUSED"])
          assert.propertyVal(unreachable.reason.cause, "statusCode", 502)
          const absent = yield* request(url, `http://bot:wrong-secret@127.0.0.1:${closed}`)
          assert.deepStrictEqual(codesOf(absent), ["TransportError", "1 ECONNREFUSED"])
          for (const error of [refused, unreachable, absent]) {
            const shown = `${error} ${JSON.stringify(error)} ${error.stack} ${(error.reason.cause as Error).stack}`
            assert.notInclude(shown, "wrong-secret")
            assert.notInclude(shown, Buffer.from("bot:wrong-secret").toString("base64"))
          }
        }
      })
    )

    it.effect("can use TLS, with the same extra root certificate", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const url = yield* Servers.serveTls(leaf, [intermediate.pem])
        const plainUrl = yield* Servers.serve((_, response) => void response.end("plain"))
        const proxy = yield* Servers.serveProxy("bot:secret", yield* Certificates.makeLeaf(root))
        const address = `https://bot:secret@${proxy.address}`
        const both = Effect.all([get(url), get(plainUrl)])
        const options = { extraCa: root.pem, proxy: address }
        assert.deepStrictEqual(yield* Effect.provide(both, NodeBotHttpClient.layer(options)), ["ok", "plain"])
        assert.lengthOf(proxy.tunnels, 2)
        assert.deepStrictEqual(yield* failure(plainUrl, { proxy: address }), [
          "TransportError",
          "1 UNABLE_TO_VERIFY_LEAF_SIGNATURE"
        ])
        const foreign = yield* Certificates.makeLeaf(root, [{ type: "dns", value: "elsewhere.example" }])
        const misnamed = yield* Servers.serveProxy(undefined, foreign)
        assert.deepStrictEqual(yield* failure(url, { ...options, proxy: `https://${misnamed.address}` }), [
          "TransportError",
          "1 UND_ERR_PRX_TLS",
          "2 ERR_TLS_CERT_ALTNAME_INVALID"
        ])
      })
    )

    it.effect("keeps the code for a certificate of another host", () =>
      Effect.gen(function* () {
        const { root } = yield* Chain
        const leaf = yield* Certificates.makeLeaf(root, [{ type: "dns", value: "elsewhere.example" }])
        const url = yield* Servers.serveTls(leaf, [])
        const proxy = yield* Servers.serveProxy()
        const options = { extraCa: root.pem, proxy: `http://${proxy.address}` }
        assert.deepStrictEqual(yield* failure(url, options), ["TransportError", "1 ERR_TLS_CERT_ALTNAME_INVALID"])
      })
    )

    it.effect("has a different code than the server if it closes the connection", () =>
      Effect.gen(function* () {
        const port = yield* Servers.serveSockets("hangs up")
        assert.deepStrictEqual(yield* failure("https://nothing.invalid", { proxy: `http://127.0.0.1:${port}` }), [
          "TransportError",
          "1 UND_ERR_PRX_CONN",
          "2 UND_ERR_SOCKET"
        ])
      })
    )

    it.effect("fails with a connect time-out if it does not open the tunnel", () =>
      Effect.gen(function* () {
        const port = yield* Servers.serveSockets("silent")
        const options = { proxy: `http://127.0.0.1:${port}`, connectTimeout: "20 millis" } as const
        assert.deepStrictEqual(yield* failure("https://nothing.invalid", options), [
          "TransportError",
          "1 UND_ERR_CONNECT_TIMEOUT"
        ])
      })
    )

    it.effect("must have a valid address, which is not repeated in the error", () =>
      Effect.gen(function* () {
        for (const proxy of ["proxy:3128", "socks5://bot:hidden@host:1080", "http://bot:hidden@", "bot:hidden"]) {
          const error = yield* settingsError({ proxy })
          assert.deepStrictEqual(error.problems, [
            { setting: "proxy", problem: "must look like http://user:password@host:port" }
          ])
          assert.notInclude(JSON.stringify(error), "hidden")
        }
      })
    )
  })

  describe("the headers", () => {
    it.effect("have no trace headers", () =>
      Effect.gen(function* () {
        const url = yield* Servers.serve((request, response) => void response.end(Object.keys(request.headers).join()))
        const traced = Effect.withSpan(get(url), "outer")
        const usual = yield* Effect.provide(traced, FetchHttpClient.layer)
        assert.include(usual, "traceparent")
        const ours = yield* Effect.provide(traced, NodeBotHttpClient.layer())
        assert.notInclude(ours, "traceparent")
        assert.notInclude(ours, "b3")
        const asked = traced.pipe(
          Effect.provideService(HttpClient.TracerPropagationEnabled, true),
          Effect.provide(NodeBotHttpClient.layer())
        )
        assert.notInclude(yield* asked, "traceparent")
      })
    )
  })

  describe("layerConfig", () => {
    it.effect("reads the root certificate and the proxy from environment variables", () =>
      Effect.gen(function* () {
        const { root, intermediate, leaf } = yield* Chain
        const url = yield* Servers.serveTls(leaf, [intermediate.pem])
        const proxy = yield* Servers.serveProxy("bot:secret")
        const environment = {
          BOT_EXTRA_CA: yield* temporaryFile(root.pem),
          BOT_PROXY: `http://bot:secret@${proxy.address}`,
          BOT_CONNECT_TIMEOUT: "5 seconds",
          BOT_HEADERS_TIMEOUT: "5 seconds",
          BOT_BODY_TIMEOUT: "5 seconds",
          BOT_CONNECTIONS: "2"
        }
        assert.strictEqual(yield* Effect.provide(get(url), withConfig(environment)), "ok")
        assert.lengthOf(proxy.tunnels, 1)
      })
    )

    it.effect("requires no variable, and ignores blank ones", () =>
      Effect.gen(function* () {
        const url = yield* Servers.serve((_, response) => void response.end("ok"))
        for (const environment of [{}, { BOT_EXTRA_CA: "", BOT_PROXY: " " }]) {
          assert.strictEqual(yield* Effect.provide(get(url), withConfig(environment)), "ok")
        }
      })
    )

    it.effect("reports each invalid variable by name", () =>
      Effect.gen(function* () {
        const build = (environment: Record<string, string>) =>
          Effect.flip(Effect.scoped(Layer.build(withConfig(environment))))
        const root = yield* build({ BOT_EXTRA_CA: "/nowhere/root.pem" })
        assert.match(root.message, /^extraCa \(BOT_EXTRA_CA\): cannot read/)
        const malformed = yield* build({
          BOT_PROXY: "bot:hidden",
          BOT_CONNECT_TIMEOUT: "0 seconds",
          BOT_HEADERS_TIMEOUT: "soon",
          BOT_CONNECTIONS: "0"
        })
        assert.strictEqual(malformed._tag, "InvalidSettings")
        assert.strictEqual(
          malformed.message,
          "Set these before the bot starts: " +
            "BOT_PROXY must look like http://user:password@host:port; " +
            "BOT_CONNECT_TIMEOUT must be a duration longer than zero, such as `10 seconds`; " +
            "BOT_HEADERS_TIMEOUT must be a duration longer than zero, such as `10 seconds`; " +
            "BOT_CONNECTIONS must be a whole number above 0."
        )
      })
    )
  })
})
