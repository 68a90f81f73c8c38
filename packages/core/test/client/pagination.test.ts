import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Comments, Members, Messages } from "../../src/index.ts"
import * as page from "../../src/client/internal/pagination.ts"
import { chat_id, comment, message, mid, user } from "../support/fixtures.ts"
import { answer, ok, scripted, unlimited } from "../support/scripted.ts"

const messages = (...items: ReadonlyArray<readonly [mid: string, timestamp: number]>) =>
  ok({ messages: items.map(([mid, timestamp]) => message({ timestamp, body: { mid, seq: 1 } })) })

const urlsOf = (platform: ReturnType<typeof scripted>) => platform.journal.map(({ url }) => url)

const path = `/messages?chat_id=${chat_id}`

describe("Messages.stream", () => {
  const midsOf = Stream.map((message: { readonly body?: { readonly mid: string } | null }) => message.body?.mid)

  it.effect("requests a page only when it is pulled", () =>
    Effect.gen(function* () {
      const platform = scripted(messages(["e", 5], ["d", 4]), messages(["d", 4], ["c", 3]))
      const taken = (count: number) =>
        Messages.stream({ chat_id, count: 2 }).pipe(Stream.take(count), midsOf, Stream.runCollect)
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* taken(0), [])
        assert.lengthOf(platform.journal, 0)
        assert.deepStrictEqual(yield* taken(2), ["e", "d"])
        assert.deepStrictEqual(urlsOf(platform), [`${path}&count=2`])
      }).pipe(Effect.provide(platform.layer({ limits: unlimited })))
    })
  )

  it.effect("drops messages that two pages have, and ends after a page without new messages", () =>
    Effect.gen(function* () {
      const platform = scripted(messages(["e", 5], ["d", 4]), messages(["d", 4], ["c", 3]), messages(["c", 3]))
      const mids = yield* Messages.stream({ chat_id, count: 2 }).pipe(
        midsOf,
        Stream.runCollect,
        Effect.provide(platform.layer())
      )
      assert.deepStrictEqual(mids, ["e", "d", "c"])
      assert.deepStrictEqual(urlsOf(platform), [`${path}&count=2`, `${path}&from=5&count=2`, `${path}&from=4&count=2`])
    })
  )

  it.effect("requests pages of 100 by default, from the given time", () =>
    Effect.gen(function* () {
      const platform = scripted(messages())
      yield* Messages.stream({ chat_id, from: 9 }).pipe(Stream.runDrain, Effect.provide(platform.layer()))
      assert.deepStrictEqual(urlsOf(platform), [`${path}&from=9&count=100`])
    })
  )

  it.effect("emits the messages before a failed page, and then fails with its error", () =>
    Effect.gen(function* () {
      const platform = scripted(messages(["e", 5]), answer(403, {}))
      const seen: Array<unknown> = []
      const error = yield* Messages.stream({ chat_id, count: 1 }).pipe(
        midsOf,
        Stream.runForEach((mid) => Effect.sync(() => seen.push(mid))),
        Effect.flip,
        Effect.provide(platform.layer())
      )
      assert.deepStrictEqual([seen, error._tag], [["e"], "Forbidden"])
    })
  )
})

describe("Messages.stream of messages without a body", () => {
  const forward = (timestamp: number, mid: string) =>
    message({ timestamp, body: null, link: { type: "forward", message: { mid, seq: 1 } } })

  it.effect("emits each forward of one millisecond, also across the end of a page", () =>
    Effect.gen(function* () {
      const [a, b] = [forward(5, "a"), forward(5, "b")]
      // The two forwards of `b` have the same fields.
      const all = ok({ messages: [a, b, b] })
      const platform = scripted(ok({ messages: [a, b] }), all, all, ok({ messages: [] }))
      const messages = yield* Messages.stream({ chat_id, count: 2 }).pipe(
        Stream.map(({ link }) => link?.message?.mid as string | undefined),
        Stream.runCollect,
        Effect.provide(platform.layer())
      )
      assert.deepStrictEqual(messages, ["a", "b", "b"])
    })
  )
})

describe("Comments.stream", () => {
  const comments = (items: ReadonlyArray<readonly [string, number]>, marker?: bigint) =>
    ok({ messages: items.map(([mid, timestamp]) => comment({ timestamp, body: { mid, seq: 1 } })), marker })

  const midsOf = (platform: ReturnType<typeof scripted>) =>
    Comments.stream({ message_id: mid, count: 2 }).pipe(
      Stream.map(({ body }) => body.mid as string),
      Stream.runCollect,
      Effect.provide(platform.layer())
    )

  const from = `/messages/${mid}/comments?`

  it.effect("requests the next page by the marker of the page, until a page has none", () =>
    Effect.gen(function* () {
      const platform = scripted(
        comments(
          [
            ["c", 3],
            ["b", 2]
          ],
          2n
        ),
        comments([["a", 2]])
      )
      assert.deepStrictEqual(yield* midsOf(platform), ["c", "b", "a"])
      assert.deepStrictEqual(urlsOf(platform), [`${from}count=2`, `${from}count=2&marker=2`])
    })
  )

  it.effect("requests the next page by time if the platform ignores the marker", () =>
    Effect.gen(function* () {
      const first = comments(
        [
          ["c", 3],
          ["b", 2]
        ],
        2n
      )
      const platform = scripted(
        first,
        first,
        comments([
          ["b", 2],
          ["a", 1]
        ]),
        comments([["a", 1]]),
        comments([])
      )
      assert.deepStrictEqual(yield* midsOf(platform), ["c", "b", "a"])
      assert.deepStrictEqual(urlsOf(platform).slice(0, 3), [
        `${from}count=2`,
        `${from}count=2&marker=2`,
        `${from}before=3&count=2`
      ])
    })
  )

  it.effect("requests the next page by the time of the last comment if a page has no marker", () =>
    Effect.gen(function* () {
      const second = comments([
        ["b", 2],
        ["a", 2]
      ])
      const platform = scripted(
        comments([
          ["c", 3],
          ["b", 2]
        ]),
        second,
        second,
        comments([])
      )
      assert.deepStrictEqual(yield* midsOf(platform), ["c", "b", "a"])
      assert.deepStrictEqual(urlsOf(platform), [
        `${from}count=2`,
        `${from}before=3&count=2`,
        `${from}before=3&count=2`,
        `${from}before=2&count=2`
      ])
    })
  )
})

describe("byTime: repeated pages", () => {
  it.effect("ends if the platform returns the same page repeatedly", () =>
    Effect.gen(function* () {
      let pages = 0
      const items = yield* page
        .byTime({
          count: 2,
          from: undefined,
          timeOf: ({ at }: { readonly id: string; readonly at: number }) => at,
          idOf: ({ id }) => id,
          fetch: () =>
            Effect.sync(() => {
              pages++
              return {
                items: [
                  { id: "b", at: 1_774_000_000_001 },
                  { id: "a", at: 1_774_000_000_000 }
                ]
              }
            })
        })
        .pipe(Stream.runCollect)
      assert.deepStrictEqual(
        items.map(({ id }) => id),
        ["b", "a"]
      )
      assert.isAtMost(pages, 4)
    })
  )
})

describe("Members.stream", () => {
  const members = (ids: ReadonlyArray<number>, marker?: bigint | null) =>
    ok({ members: ids.map((user_id) => ({ ...user, user_id })), ...(marker === undefined ? {} : { marker }) })

  const collect = (platform: ReturnType<typeof scripted>) =>
    Members.stream({ chat_id }).pipe(
      Stream.map(({ user_id }) => user_id as number),
      Stream.runCollect,
      Effect.provide(platform.layer())
    )

  const from = `/chats/${chat_id}/members?`

  it.effect("requests pages until there is no marker", () =>
    Effect.gen(function* () {
      for (const last of [members([4]), members([4], null), members([4], 116328127605864690n)]) {
        const platform = scripted(members([1, 2], 7n), members([3], 116328127605864690n), last)
        assert.deepStrictEqual(yield* collect(platform), [1, 2, 3, 4])
        assert.deepStrictEqual(urlsOf(platform), [
          `${from}count=100`,
          `${from}marker=7&count=100`,
          `${from}marker=116328127605864690&count=100`
        ])
      }
    })
  )

  it.effect("ends with an empty page, even if it has a marker", () =>
    Effect.gen(function* () {
      const platform = scripted(members([1], 7n), members([], 8n))
      assert.deepStrictEqual(yield* collect(platform), [1])
    })
  )

  it.effect("requests no page that is not pulled", () =>
    Effect.gen(function* () {
      const platform = scripted(members([1, 2], 7n))
      yield* Members.stream({ chat_id, count: 2 }).pipe(
        Stream.take(2),
        Stream.runDrain,
        Effect.provide(platform.layer())
      )
      assert.deepStrictEqual(urlsOf(platform), [`${from}count=2`])
    })
  )
})

describe("byTime", () => {
  const history = Arbitrary.array(Arbitrary.schema(Schema.Literals([1, 2, 3, 4, 5, 6, 7, 8, 9])), { maxLength: 40 })

  const inputs = {
    times: history,
    count: Arbitrary.schema(Schema.Literals([1, 2, 3, 5])),
    inclusive: Arbitrary.schema(Schema.Boolean)
  }

  it.effect.prop(
    "emits each element once, latest first, whether or not the platform includes the end of the time",
    inputs,
    ({ times, count, inclusive }) =>
      Effect.gen(function* () {
        const fits = (time: number) => times.filter((other) => other === time).length < count
        const items = times
          .filter(fits)
          .sort((a, b) => b - a)
          .map((time, id) => ({ id: String(id), time }))
        let calls = 0
        type Item = (typeof items)[number]
        const given = yield* page
          .byTime<Item, never, never>({
            count,
            from: undefined,
            timeOf: ({ time }) => time,
            idOf: ({ id }) => id,
            fetch: ({ before }) =>
              Effect.sync(() => {
                calls++
                const until = before === undefined ? Infinity : inclusive ? before : before - 1
                return { items: items.filter(({ time }) => time <= until).slice(0, count) }
              })
          })
          .pipe(Stream.runCollect)
        assert.deepStrictEqual(given, items)
        assert.isAtMost(calls, 4 * items.length + 4)
      }),
    { arbitrary: { runs: 300 } }
  )
})
