import { assert, describe, it } from "@effect/vitest"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { makeAddressOf } from "../../src/client/internal/address.ts"

const origins = [
  "https://api.example",
  "https://API.example:443",
  "http://127.0.0.1:8080",
  "http://h:80",
  "http://ü.example"
]

const paths = [
  "/",
  "/messages?chat_id=-7",
  "/bot/messages/mid.00ff?v=1,2&text=%D0%BF",
  "/a/../b",
  "/a/./b",
  "/..",
  "/.hidden",
  "/a/%2E%2e/b",
  "//a",
  "/a\\b",
  "/a b",
  "/a\tb",
  "/имя?q=имя",
  "/a?q='",
  '/a?q="',
  "/a?q=../b",
  "/a#hash",
  "/a?b#hash",
  "/a?b?c",
  "/a|b^c`d{e}",
  "/a?|^`{}",
  ""
]

describe("the address of a request", () => {
  it("is that of a URL parser, whether or not the origin is known", () => {
    for (const origin of origins) {
      const addressOf = makeAddressOf()
      for (const path of [...paths, ...paths]) {
        const { origin: expectedOrigin, pathname, search } = new URL(origin + path)
        const address = addressOf(HttpClientRequest.get(origin + path))
        assert.deepStrictEqual(address, { origin: expectedOrigin, path: pathname + search }, origin + path)
      }
    }
  })

  it("changes with the origin, also to one that begins like the one before", () => {
    const addressOf = makeAddressOf()
    for (const url of ["http://h/a", "http://h.example/a", "http://h:81/a", "http://h@other/a", "http://h/a"]) {
      assert.strictEqual(addressOf(HttpClientRequest.get(url))?.origin, new URL(url).origin)
    }
  })

  it("has the parameters of the request", () => {
    const addressOf = makeAddressOf()
    const request = HttpClientRequest.get("http://h/a", { urlParams: { b: "1" } })
    assert.deepStrictEqual(addressOf(request), { origin: "http://h", path: "/a?b=1" })
    assert.deepStrictEqual(addressOf(request), { origin: "http://h", path: "/a?b=1" })
  })

  it("is undefined for a text that is no URL", () => {
    assert.isUndefined(makeAddressOf()(HttpClientRequest.get("http://")))
  })
})
