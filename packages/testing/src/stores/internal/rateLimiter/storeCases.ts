import { type AcquireOptions, type Process, RateLimiterStore, turn } from "@colloquy/core/client/RateLimiterStore"
import * as Effect from "effect/Effect"
import { fail, ok, strictEqual } from "node:assert"
import { test } from "../test.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const storeHost = { count: 6, window: 200 }

const maxDelay = 50

const member = (id: string, overrides: Partial<Process> = {}): Process => ({
  id,
  share: 0,
  absentAfter: 50,
  reserveFor: 300,
  epoch: undefined,
  reserved: 0,
  reservedForOthers: 0,
  ...overrides
})

/** Asks the store for permits without a bucket, with the ids `<process>:<first>` and so on. */
const ask = (process: Process, count: number, overrides: Partial<AcquireOptions> = {}) =>
  RateLimiterStore.use((store) =>
    store.acquire({
      process,
      requests: numbers(count).map((index) => ({ id: `${process.id}:${index}`, bucket: undefined, isPaced: false })),
      host: storeHost,
      delay: 0,
      advance: 0,
      maxDelay,
      deadline: Number.MAX_SAFE_INTEGER,
      unused: [],
      sentAlone: [],
      ...overrides
    })
  )

const acquired = (process: Process, count: number, overrides: Partial<AcquireOptions> = {}) =>
  Effect.map(ask(process, count, overrides), (result) =>
    result._tag === "Late"
      ? fail("the call came late")
      : { ...result, granted: result.results.filter(({ _tag }) => _tag === "Granted").length }
  )

/** Calls an empty store, and waits until the store grants permits. */
const settled = Effect.andThen(ask(member("first"), 0), Effect.sleep(storeHost.window + maxDelay + 10))

const emptyCase = test("grants no permit for a window after it was empty", function* () {
  const { granted, now, results } = yield* acquired(member("a"), 1)
  strictEqual(granted, 0, "permits of an empty store")
  const [result] = results
  const retryAfter = result._tag === "HostFull" ? result.retryAfter : 0
  ok(Math.abs(retryAfter - storeHost.window - maxDelay) < 1, `retryAfter is ${retryAfter} ms`)
  yield* Effect.sleep(retryAfter + 10)
  const later = yield* acquired(member("a"), 7)
  strictEqual(later.granted, 6, "permits after a window")
  ok(later.now >= now + retryAfter, "the clock of the store went back")
})

/** Cases of a store that grants permits. */
const settledCases = [
  test("does nothing after the deadline of a call", function* () {
    const deadline = (yield* RateLimiterStore.use(({ time }) => time)) - 1
    const { _tag } = yield* ask(member("a", { share: 1 }), 6, { deadline })
    strictEqual(_tag, "Late", "the result")
    const { granted, reservedForOthers } = yield* acquired(member("b"), 6)
    strictEqual(granted, 6, "permits that are left")
    strictEqual(reservedForOthers, 0, "permits that are reserved")
  }),

  test("reserves the share of an absent member for a limited time", function* () {
    const present = yield* acquired(member("a", { share: 0.5, reserveFor: 600 }), 0)
    strictEqual(present.reserved, 3, "permits that are reserved for the member")
    strictEqual((yield* acquired(member("b"), 7)).granted, 6, "permits while the member is present")
    yield* Effect.sleep(storeHost.window + 10)
    strictEqual((yield* acquired(member("b"), 7)).granted, 3, "permits while the member is absent")
    yield* Effect.sleep(600 + maxDelay)
    strictEqual((yield* acquired(member("b"), 7)).granted, 6, "permits after the member was removed")
  }),

  test("ends a membership", function* () {
    yield* acquired(member("a", { share: 0.5, reserveFor: 60_000 }), 0)
    yield* RateLimiterStore.use((store) => store.leave("a"))
    yield* Effect.sleep(60)
    strictEqual((yield* acquired(member("b"), 7)).granted, 6, "permits after the member left")
  }),

  test("reserves no more than the limit for all members together", function* () {
    const reserved = (id: string) => Effect.map(acquired(member(id, { share: 0.7 }), 0), ({ reserved }) => reserved)
    strictEqual(yield* reserved("a"), 4, "permits of the first member")
    strictEqual(yield* reserved("b"), 2, "permits of the second member")
    strictEqual(yield* reserved("c"), 0, "permits of the third member")
    strictEqual(yield* reserved("a"), 4, "permits of the first member after the others came")
  }),

  test("counts the requests that a process sent without the store once, and does not count unused permits", function* () {
    const bucket = { key: "messages:1", count: 2, window: storeHost.window }
    const sentAlone = [
      { id: "a:alone:0", bucket, age: 0 },
      { id: "a:alone:1", bucket: undefined, age: 10 },
      { id: "a:alone:2", bucket: undefined, age: storeHost.window + 10 }
    ]
    yield* acquired(member("a"), 0, { sentAlone })
    const inBucket = numbers(2).map((index) => ({ id: `b:${index}`, bucket, isPaced: false }))
    const { results } = yield* acquired(member("b"), 0, { sentAlone, requests: inBucket })
    strictEqual(results.map(({ _tag }) => _tag).join(), "Granted,BucketFull", "permits of the bucket")
    strictEqual((yield* acquired(member("c"), 3)).granted, 3, "permits that are left")
    const unused = [{ id: "b:0", bucket: bucket.key }]
    const again = yield* acquired(member("b"), 0, { unused, requests: inBucket.slice(1) })
    strictEqual(again.results[0]._tag, "Granted", "the permit of the bucket after one was returned")
    strictEqual((yield* acquired(member("d"), 1)).granted, 0, "permits after all were granted")
  }),

  test("reserves the permits that the members of a lost store report about each other", function* () {
    const returned = (id: string) =>
      acquired(member(id, { epoch: "before", reserved: 2, reservedForOthers: 4, reserveFor: 60_000 }), 0)
    yield* returned("a")
    strictEqual((yield* returned("b")).reservedForOthers, 2, "permits reserved for the third member")
    strictEqual((yield* acquired(member("d"), 7)).granted, 4, "permits that are left")
  }),

  test("counts a permit later that was moved to a later time", function* () {
    const { now } = yield* acquired(member("a"), 6)
    yield* RateLimiterStore.use((store) => store.move({ id: "a:0", bucket: undefined, to: now + 150 }))
    yield* Effect.sleep(storeHost.window + 10)
    strictEqual((yield* acquired(member("b"), 7)).granted, 5, "permits that are left")
  }),

  test("counts a permit earlier that was moved to an earlier time", function* () {
    const bucket = { key: "messages:1", count: 1, window: storeHost.window }
    const request = (id: string) => ({ id, bucket, isPaced: false })
    const { now } = yield* acquired(member("a"), 0, {
      delay: maxDelay,
      requests: numbers(6).map((index) => request(`a:${index}`))
    })
    yield* acquired(member("b"), 5)
    for (const id of ["a:0", "unknown"]) {
      yield* RateLimiterStore.use((store) => store.move({ id, bucket: bucket.key, to: now - storeHost.window }))
    }
    const { granted } = yield* acquired(member("c"), 0, { requests: [request("c:0"), request("c:1")] })
    strictEqual(granted, 1, "permits of the host and of the bucket")
  }),

  test("leaves a permit to a process that waits longer, and lets the other ask again soon", function* () {
    const { now } = yield* acquired(member("a"), 6)
    yield* RateLimiterStore.use((store) => store.move({ id: "a:0", bucket: undefined, to: now - 100 }))
    yield* acquired(member("b"), 1)
    yield* Effect.sleep(110)
    const { results } = yield* acquired(member("c"), 1)
    const [result] = results
    strictEqual(result._tag, "HostFull", "the permit that is left to the process that waits longer")
    const retryAfter = result._tag === "HostFull" ? result.retryAfter : Infinity
    ok(retryAfter > 0 && retryAfter <= turn, `retryAfter is ${retryAfter} ms`)
  }),

  test("leaves no permit to a process that is expected much later", function* () {
    const { now } = yield* acquired(member("a"), 6)
    yield* acquired(member("b"), 1)
    yield* acquired(member("c"), 1)
    yield* RateLimiterStore.use((store) => store.move({ id: "a:0", bucket: undefined, to: now - storeHost.window }))
    strictEqual((yield* acquired(member("c"), 1)).granted, 1, "permits that became free early")
  }),

  test("grants a permit in advance that is free soon", function* () {
    const first = yield* acquired(member("a"), 6)
    const { granted, now, results } = yield* acquired(member("b"), 2, { advance: storeHost.window })
    strictEqual(granted, 2, "permits in advance")
    for (const result of results) {
      const at = result._tag === "Granted" ? result.at : -Infinity
      ok(at >= first.now + storeHost.window && at >= now, `a permit is granted at ${at - first.now} ms`)
    }
    strictEqual((yield* acquired(member("c"), 1)).granted, 0, "permits that are free now")
    yield* Effect.sleep(storeHost.window + 10)
    strictEqual((yield* acquired(member("c"), 7)).granted, 4, "permits that are left")
  })
].map(({ effect, name }) => ({ name, effect: Effect.andThen(settled, effect) }))

export const storeCases = [emptyCase, ...settledCases]
