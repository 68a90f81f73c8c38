import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Json from "../../src/base/Json.ts"
import * as Platform from "../../src/base/Platform.ts"
import { parseMarked, restore } from "../../src/base/internal/json.ts"
import { runSliced } from "../../src/client/internal/pausing.ts"
import { parseSliced } from "../../src/client/internal/sliced.ts"

const parse = (text: string) => Effect.runSync(Effect.result(runSliced(() => parseSliced(text))))

const read = (text: string): unknown => Result.getOrThrow(restore(Result.getOrThrow(parse(text))))

const elements = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: index,
    text: `a, "b" [{\\ ${index}`,
    seq: 2n ** 60n,
    list: [[1]]
  }))

const list = (element: string, count: number) => `[${Array.from({ length: count }, () => element).join(",")}]`

describe("A page that is parsed in slices", () => {
  it("is the page, whatever is in it, and wherever its lists are", () => {
    for (const page of [
      { messages: elements(3000) },
      { messages: elements(3000), marker: 2n ** 60n },
      { marker: null, first: elements(1500), empty: [], rest: { deep: elements(20) }, second: elements(1500) },
      { ["__proto__"]: elements(1500), text: "x".repeat(50_000) }
    ]) {
      assert.deepStrictEqual(read(Json.stringify(page)), page)
    }
  })

  it("is read with white space around every part", () => {
    const text = JSON.stringify({ messages: Array.from({ length: 900 }, (_, id) => ({ id })), more: [] }, null, 20)
    assert.deepStrictEqual(read(` \n${text}\n`), JSON.parse(text))
  })

  it("fails where JSON.parse fails", () => {
    const good = `{"messages":${list('{"a":1}', 10_000)},"marker":1}`
    for (const bad of [
      good.slice(0, -1),
      `${good}]`,
      good.replace("},{", "},,{"),
      good.replace(/\],/, ",],"),
      good.replace("[", "[,"),
      good.replace(/\]/, "}"),
      good.replace('"marker":1', '"marker"'),
      good.replace('"a":1', '"a"1')
    ]) {
      assert.throws(() => JSON.parse(bad))
      assert.isTrue(Result.isFailure(parse(bad)), bad.slice(-40))
    }
    assert.isTrue(Result.isSuccess(parse(good)))
  })

  it("keeps the elements around one that has too many values", () => {
    const large = list("0", Platform.maxJsonValues + 1)
    const page = Result.getOrThrow(parse(`{"messages":[{"id":1},${large},{"id":2}]}`)) as {
      readonly messages: ReadonlyArray<unknown>
    }
    assert.deepStrictEqual([page.messages[0], page.messages[2]], [{ id: 1 }, { id: 2 }])
    const unread = restore(page.messages[1])
    if (Result.isSuccess(unread)) return assert.fail("it was parsed")
    assert.strictEqual(unread.failure.message, "The JSON has more than 16384 values.")
  })

  it("fails if its lists, or the rest of it, have too many values", () => {
    const many = Platform.maxJsonValues + 2049
    for (const text of [
      `{"messages":${list("0", many)}}`,
      `{"messages":[],"rest":{"deep":${list("0", many)}}}`,
      list("0", many),
      `{${Array.from({ length: many }, (_, index) => `"k${index}":[1]`).join(",")}}`
    ]) {
      const parsed = parse(text)
      if (Result.isSuccess(parsed)) return assert.fail("it was parsed")
      assert.include(String(parsed.failure), "has more than 16384 values")
    }
  })

  it("is as parseMarked reads it if it is small", () => {
    const text = Json.stringify({ messages: elements(3) })
    assert.deepStrictEqual(Result.getOrThrow(parse(text)), parseMarked(text))
  })
})
