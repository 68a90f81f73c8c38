/**
 * Test cases for implementations of `UploadCache`, for any test runner.
 *
 * @since 0.1.0
 */
import type { StoreError } from "@colloquy/core/base/StoreError"
import { UploadCache } from "@colloquy/core/endpoints/UploadCache"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { deepStrictEqual } from "node:assert/strict"
import { test } from "./internal/test.ts"
import type { TestCase } from "./TestCase.ts"

const first = JSON.stringify({ type: "image", payload: { photos: { "1": { token: "a" } } } })
const second = JSON.stringify({ type: "file", payload: { token: 'Ünïcode "quoted" \\ токен 🙂' } })

/**
 * The test cases. Each case needs an empty cache.
 *
 * **Example** (Run the cases with Vitest)
 *
 * ```ts
 * import { UploadCache } from "@colloquy/core"
 * import * as UploadCacheSuite from "@colloquy/testing/stores/UploadCacheSuite"
 * import { it } from "@effect/vitest"
 * import { Effect } from "effect"
 *
 * for (const { effect, name } of UploadCacheSuite.cases) {
 *   it.effect(name, () => Effect.provide(effect, UploadCache.layerMemory()))
 * }
 * ```
 *
 * @category suites
 * @since 0.1.0
 */
export const cases: ReadonlyArray<TestCase<UploadCache, StoreError>> = [
  test("returns the attachment of a key, and None for an unknown key", function* () {
    const cache = yield* UploadCache
    deepStrictEqual(yield* cache.get("image a"), Option.none())
    yield* cache.set("image a", first)
    yield* cache.set("file b имя файла.pdf", second)
    deepStrictEqual(yield* cache.get("image a"), Option.some(first))
    deepStrictEqual(yield* cache.get("file b имя файла.pdf"), Option.some(second))
    deepStrictEqual(yield* cache.get("image"), Option.none())
  }),

  test("replaces the attachment of a key", function* () {
    const cache = yield* UploadCache
    yield* cache.set("image a", first)
    yield* cache.set("image a", second)
    deepStrictEqual(yield* cache.get("image a"), Option.some(second))
  }),

  test("removes the entry of a key, and no other", function* () {
    const cache = yield* UploadCache
    yield* cache.set("image a", first)
    yield* cache.set("image b", first)
    yield* cache.remove("image a", first)
    yield* cache.remove("image c", first)
    deepStrictEqual(yield* cache.get("image a"), Option.none())
    deepStrictEqual(yield* cache.get("image b"), Option.some(first))
  }),

  test("keeps an entry that another process has replaced", function* () {
    const cache = yield* UploadCache
    yield* cache.set("image a", second)
    yield* cache.remove("image a", first)
    deepStrictEqual(yield* cache.get("image a"), Option.some(second))
  }),

  test("accepts concurrent writes", function* () {
    const cache = yield* UploadCache
    const keys = Array.from({ length: 50 }, (_, index) => `image ${index % 5}`)
    yield* Effect.forEach(keys, (key) => cache.set(key, first), { concurrency: "unbounded", discard: true })
    for (const key of keys.slice(0, 5)) deepStrictEqual(yield* cache.get(key), Option.some(first))
  })
]
