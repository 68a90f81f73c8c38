import { assert, describe, it } from "@effect/vitest"
import { isPublicHost } from "../../src/client/PublicHost.ts"

const hostname = (url: string) => new URL(url).hostname

describe("isPublicHost", () => {
  it.each([
    "http://127.0.0.1/",
    "http://127.255.255.255/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://169.254.169.254/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.0.0.170/",
    "http://192.0.2.1/",
    "http://192.168.0.1/",
    "http://3232235521/",
    "http://198.19.255.255/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://１２７.０.０.１/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://[64:ff9b:1::1]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[ff02::1]/",
    "http://[2001::1]/",
    "http://[2001:db8::1]/",
    "http://[2002:7f00:1::]/",
    "http://[3fff::1]/",
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST/",
    "http://a.localhost/",
    "http://metadata/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://nas.home.arpa/"
  ])("is false for %s", (url) => {
    assert.isFalse(isPublicHost(hostname(url)))
  })

  it.each([
    "http://1.1.1.1/",
    "http://9.255.255.255/",
    "http://11.0.0.0/",
    "http://100.63.255.255/",
    "http://100.128.0.0/",
    "http://172.15.255.255/",
    "http://172.32.0.0/",
    "http://192.167.255.255/",
    "http://223.255.255.255/",
    "http://[2606:4700:4700::1111]/",
    "http://[2001:4860:4860::8888]/",
    "http://[2a00:1450:4001:830::200e]/",
    "http://[64:ff9b::1.1.1.1]/",
    "http://files.example.org/",
    "http://пример.рф/",
    "http://localhost.example/"
  ])("is true for %s", (url) => {
    assert.isTrue(isPublicHost(hostname(url)))
  })
})
