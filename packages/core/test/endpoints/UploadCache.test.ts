import { UploadCache } from "@colloquy/core"
import * as UploadCacheSuite from "@colloquy/testing/stores/UploadCacheSuite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

describe("UploadCache.layerMemory", () => {
  for (const { effect, name } of UploadCacheSuite.cases) {
    it.effect(name, () => Effect.provide(effect, UploadCache.layerMemory()))
  }

  it.effect("removes the least recently used entry above its capacity", () =>
    Effect.gen(function* () {
      const cache = yield* UploadCache.UploadCache
      for (const key of ["a", "b"]) yield* cache.set(key, key)
      yield* cache.get("a")
      yield* cache.set("c", "c")
      const known = yield* Effect.forEach(["a", "b", "c"], cache.get)
      assert.deepStrictEqual(known, [Option.some("a"), Option.none(), Option.some("c")])
    }).pipe(Effect.provide(UploadCache.layerMemory({ capacity: 2 })))
  )
})
