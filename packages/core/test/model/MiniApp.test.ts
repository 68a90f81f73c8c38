import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { createHmac } from "node:crypto"
import { MiniApp } from "../../src/index.ts"

const token = Redacted.make("f9LHodD0cOL5NY7All_9xJRh5ZhPw6bRvq_0Adm8-1bZZEHdRy6_ZHDMNVPejUYNZg7Zhty-wKHNv2X2WJBQ")

const at = 1_733_485_316_394

/** The hash was computed with `openssl dgst -sha256 -mac HMAC`. */
const known = {
  initData:
    "auth_date=1733485316394&query_id=158b120b-7aa3-4a0f-a198-52ace06d0658&user=%7B%22language_code%22%3A%22ru%22%2C" +
    "%22first_name%22%3A%22%D0%92%D0%B0%D1%81%D1%8F%22%2C%22last_name%22%3A%22%22%2C%22photo_url%22%3Anull%2C" +
    "%22username%22%3Anull%2C%22id%22%3A400%7D&hash=",
  hash: "2d5bc4d3bea201437a3fec088522310c76e90deb4db192c1824a16703487bb5c"
}

const initDataOf = (hash = known.hash) => `${known.initData}${hash}`

const verify = (initData: string, options: Partial<MiniApp.VerifyOptions> = {}) =>
  MiniApp.verify(initData, { token, ...options })

const reasonOf = (initData: string, options?: Partial<MiniApp.VerifyOptions>) =>
  Effect.map(Effect.flip(verify(initData, options)), ({ reason }) => reason)

/** Computes the signature of lines in their order, independent of the library. */
const hashOf = (lines: ReadonlyArray<string>) =>
  createHmac("sha256", createHmac("sha256", "WebAppData").update(Redacted.value(token)).digest())
    .update(lines.join("\n"))
    .digest("hex")

const on = <A, E, R>(effect: Effect.Effect<A, E, R>, time = at) => Effect.andThen(TestClock.setTime(time), effect)

describe("MiniApp.verify", () => {
  it.effect("returns the user, the id of the launch and the time of data that the platform signed", () =>
    on(
      Effect.gen(function* () {
        const { auth_date, chat, fields, query_id, start_param, user } = yield* verify(initDataOf())
        assert.deepStrictEqual([auth_date, query_id], [at, "158b120b-7aa3-4a0f-a198-52ace06d0658"])
        assert.deepInclude(user as object, { id: 400, first_name: "Вася", last_name: "", language_code: "ru" })
        assert.deepStrictEqual([chat, start_param], [undefined, undefined])
        assert.hasAllKeys(fields, ["auth_date", "query_id", "user"])
      })
    )
  )

  it.effect("returns the IP address of the user where the platform sends it", () =>
    Effect.gen(function* () {
      const [without, withAddress] = [
        yield* MiniApp.sign({}, { token }),
        yield* MiniApp.sign({ ip: "192.0.2.7" }, { token })
      ]
      assert.deepStrictEqual([(yield* verify(without)).ip, (yield* verify(withAddress)).ip], [undefined, "192.0.2.7"])
    })
  )

  it.effect("accepts data from the address of the mini app, which are encoded once more, and an upper-case hash", () =>
    on(
      Effect.gen(function* () {
        assert.strictEqual((yield* verify(encodeURIComponent(initDataOf()))).user?.id, 400)
        assert.strictEqual((yield* verify(initDataOf(known.hash.toUpperCase()))).user?.id, 400)
      })
    )
  )

  it.effect("accepts fields in any order, values with =, & and blanks, and fields that it does not know", () =>
    on(
      Effect.gen(function* () {
        const user = '{"id":42,"first_name":"A & B","photo_url":"https://i.example/?r=a=&fn=sqr"}'
        const chat = '{"id":-70000000000001,"type":"CHAT"}'
        const hash = hashOf([`auth_date=${at}`, `chat=${chat}`, "ip=10.0.0.1", "start_param=from ad", `user=${user}`])
        const given = [
          `user=${encodeURIComponent(user)}`,
          `hash=${hash}`,
          "start_param=from+ad",
          "ip=10.0.0.1",
          `chat=${encodeURIComponent(chat)}`,
          `auth_date=${at}`
        ].join("&")
        const data = yield* verify(given)
        assert.deepInclude(data.user as object, { id: 42, photo_url: "https://i.example/?r=a=&fn=sqr" })
        assert.deepStrictEqual(data.chat, { id: -70000000000001, type: "CHAT" } as never)
        assert.deepStrictEqual([data.start_param, data.fields["ip"]], ["from ad", "10.0.0.1"])
      })
    )
  )

  it.effect.each([
    ["another user", initDataOf().replace("400", "401")],
    ["an additional field", `${initDataOf()}&is_admin=1`],
    ["a field less", initDataOf().replace(/&user=[^&]*/, "")],
    ["another hash", initDataOf("0".repeat(64))],
    ["a shorter hash", initDataOf(known.hash.slice(0, 32))],
    ["an empty hash", initDataOf("")]
  ])("rejects %s as forged", ([, initData]) =>
    on(Effect.map(reasonOf(initData), (reason) => assert.strictEqual(reason, "Forged")))
  )

  it.effect("rejects data that were signed for another bot as forged", () =>
    on(
      Effect.map(reasonOf(initDataOf(), { token: Redacted.make("another-token") }), (reason) =>
        assert.strictEqual(reason, "Forged")
      )
    )
  )

  it.effect.each([
    ["nothing", ""],
    ["no query string", "hello"],
    ["no hash", initDataOf().replace(/&hash=.*/, "")],
    ["a hash that is not hexadecimal", initDataOf("xyz")],
    ["two hashes", `${initDataOf()}&hash=${known.hash}`],
    ["a repeated field", `${initDataOf()}&auth_date=1`],
    ["a broken encoding", `${initDataOf()}&x=%E0%A4%A`],
    ["a line feed that moves a field into another", initDataOf().replace("&query_id=", "%0Aquery_id=")],
    ["no time", `user=1&hash=${hashOf(["user=1"])}`],
    ["a time that is no number", `auth_date=now&hash=${hashOf(["auth_date=now"])}`]
  ])("rejects %s as malformed", ([, initData]) =>
    on(Effect.map(reasonOf(initData), (reason) => assert.strictEqual(reason, "Malformed")))
  )

  it.effect("rejects data that are older than maxAge", () =>
    Effect.gen(function* () {
      const day = 86_400_000
      assert.strictEqual((yield* on(verify(initDataOf()), at + day)).auth_date, at)
      assert.strictEqual(yield* on(reasonOf(initDataOf()), at + day + 1), "Expired")
      assert.strictEqual(yield* on(reasonOf(initDataOf(), { maxAge: "1 minute" }), at + 60_001), "Expired")
      assert.strictEqual((yield* on(verify(initDataOf(), { maxAge: "Infinity" }), at * 2)).auth_date, at)
    })
  )

  it.effect("reads a time in seconds", () =>
    on(
      Effect.gen(function* () {
        const seconds = Math.floor(at / 1000)
        const given = `auth_date=${seconds}&hash=${hashOf([`auth_date=${seconds}`])}`
        assert.strictEqual((yield* verify(given)).auth_date, seconds * 1000)
      })
    )
  )

  it.effect("keeps a user that cannot be decoded as text", () =>
    on(
      Effect.gen(function* () {
        const user = '{"name":"Ann"}'
        const given = `auth_date=${at}&user=${user}&hash=${hashOf([`auth_date=${at}`, `user=${user}`])}`
        const data = yield* verify(given)
        assert.deepStrictEqual([data.user, data.fields["user"]], [undefined, user])
      })
    )
  )

  it.effect("does not show the token or the data in its errors", () =>
    on(
      Effect.gen(function* () {
        for (const initData of [initDataOf("00"), `${initDataOf()}&user=secret`]) {
          const { message } = yield* Effect.flip(verify(initData))
          for (const text of [Redacted.value(token), "secret", "400", known.hash]) assert.notInclude(message, text)
        }
      })
    )
  )
})

describe("MiniApp.sign", () => {
  it.effect("creates data that verify accepts, with the current time", () =>
    on(
      Effect.gen(function* () {
        const initData = yield* MiniApp.sign(
          { user: { id: 42, first_name: "Ann & Ben" }, chat: { id: 7, type: "DIALOG" }, start_param: "a=b" },
          { token }
        )
        const data = yield* verify(initData)
        assert.deepInclude(data.user as object, { id: 42, first_name: "Ann & Ben" })
        assert.deepStrictEqual([data.auth_date, data.chat?.id, data.start_param], [at, 7 as never, "a=b"])
      })
    )
  )
})
