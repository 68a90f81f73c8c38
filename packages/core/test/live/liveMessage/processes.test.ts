import { Emulator, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Handler, Keyboard, LiveMessage, type Message } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { platform } from "../../support/mortal.ts"
import { startBot } from "../../support/mortalStore.ts"

/** Emits ten words a second, or a hundred of a long text. */
const ticking = (source: string): Stream.Stream<string> =>
  Stream.fromIterable(source.match(/\S+\s*/g) ?? []).pipe(
    Stream.rechunk(1),
    Stream.schedule(Schedule.spaced(source.length > 1000 ? 10 : 100))
  )

/** The characters that are said in a second, and some that are shown before they are recorded. */
const inSecond = 90

const short = Array.from({ length: 6 }, (_, index) => `A **bold word${index}** and \`code${index}\` here. `).join("")

const long = Array.from(
  { length: 130 },
  (_, index) => `This is the sentence with the **number ${index}** of them. `
).join("")

const shownOf = (source: string) => source.replace(/[*`]/g, "")

const withoutSpace = (text: string) => text.replace(/\s+/g, "")

const stop = Keyboard.make([LiveMessage.stopButton("Stop")])

const isBalanced = (html: string): boolean => {
  const open: Array<string> = []
  for (const [, closing, tag] of html.matchAll(/<(\/?)(\w+)[^>]*>/g)) {
    if (closing === "") open.push(tag!)
    else if (open.pop() !== tag) return false
  }
  return open.length === 0 && !/[*`]/.test(html)
}

/**
 * Plays an answer whose process is killed at a point. `fails` counts the attempts that fail after the answer, `onTick` sees the
 * messages ten times a second, and `whileDead` is what the person does until another process goes on.
 */
const play = Effect.fnUntraced(
  function* (
    killAt: number,
    text: (asked: Array<string>) => LiveMessage.Source<string, never>,
    {
      fails = 0,
      onTick = () => {},
      whileDead = () => Effect.void
    }: {
      readonly fails?: number
      readonly onTick?: (texts: ReadonlyArray<string>) => void
      readonly whileDead?: (ann: Person.Person, message: Message.Message) => Effect.Effect<unknown>
    } = {}
  ) {
    const asked: Array<string> = []
    let attempts = 0
    const bot = Handler.on("message_created", (update) =>
      Effect.gen(function* () {
        yield* LiveMessage.reply(update, text(asked), { keyboard: stop })
        if (attempts++ < fails) return yield* Effect.fail("not yet")
      })
    )
    const store = yield* InboxStore.makeMemory
    const ann = yield* Emulator.user("Ann")
    const dialog = yield* ann.start()
    const process = yield* startBot(store, bot, killAt)
    const messages = Effect.map(Emulator.messages(dialog), (all) => all.filter(({ sender }) => sender?.is_bot === true))
    const texts = Effect.map(messages, (all) => all.map(({ body }) => body?.text ?? ""))
    /** What was shown when the process was killed. */
    let shown: string | undefined
    const restart = Effect.gen(function* () {
      const before = (yield* texts).join("")
      if (!(yield* process.restart)) return
      shown = before
      const [message] = yield* messages
      if (message !== undefined) yield* whileDead(ann, message)
    })
    yield* TestClock.adjust("1 second")
    yield* restart
    yield* ann.send("tell")
    let isHandled = false
    for (let tick = 0; !isHandled || tick < 20; tick++) {
      assert.isBelow(tick, 3000, `after the kill at ${killAt}, nothing happens`)
      yield* TestClock.adjust("100 millis")
      yield* restart
      onTick(yield* texts)
      isHandled = (yield* messages).length > 0 && (yield* store.stats).queued === 0
    }
    yield* process.kill
    yield* TestClock.adjust("1 minute")
    const htmls = (yield* Emulator.requests).flatMap(({ body, endpoint }) =>
      endpoint === "Messages.send" || endpoint === "Messages.edit"
        ? [(JSON.parse(body ?? "{}") as { readonly text?: string }).text ?? ""]
        : []
    )
    for (const html of htmls) assert.isTrue(isBalanced(html), `point ${killAt}: ${html}`)
    for (const { body } of yield* messages) assert.lengthOf(body?.attachments ?? [], 0, `point ${killAt}`)
    return { asked, htmls, shown, texts: yield* texts }
  },
  (effect) => Effect.provide(effect, Layer.fresh(Layer.merge(platform, Logger.layer([]))))
)

type Played = Effect.Success<ReturnType<typeof play>>

/** Plays an answer with a kill at each point, or at every `step`th one. Returns how many points there are. */
const atEachPoint = Effect.fnUntraced(function* (
  text: (asked: Array<string>) => LiveMessage.Source<string, never>,
  check: (played: Played, point: string) => void,
  {
    step = 1,
    ...options
  }: {
    readonly fails?: number
    readonly onTick?: (texts: ReadonlyArray<string>) => void
    readonly step?: number
  } = {}
) {
  for (let killAt = 0; ; killAt += step) {
    const played = yield* play(killAt, text, options)
    check(played, `point ${killAt}`)
    if (played.shown === undefined) return killAt
  }
})

/** A model that goes on after what it has said. */
const goingOn =
  (source: string) =>
  (asked: Array<string>) =>
  (said: string): Stream.Stream<string> => {
    asked.push(said)
    return ticking(source.slice(said.length))
  }

/** A model that says something in each of its answers. */
const saying =
  (...answers: ReadonlyArray<string>) =>
  (asked: Array<string>): Stream.Stream<string> =>
    Stream.suspend(() => {
      asked.push("")
      return ticking(answers[Math.min(asked.length, answers.length) - 1]!)
    })

describe("an answer whose process is killed", () => {
  it.effect("is one message with all of the text, and the model is not asked for the recorded text", () =>
    Effect.map(
      atEachPoint(goingOn(short), ({ asked, shown = "", texts }, point) => {
        assert.deepStrictEqual(texts, [shownOf(short)], point)
        assert.isAtMost(asked.length, 2, point)
        assert.strictEqual(asked[0], "", point)
        assert.isTrue(short.startsWith(asked.at(-1)!), point)
        if (asked.length === 2) {
          assert.isAtLeast(shownOf(asked[1]!).length, shown.length - inSecond, point)
          if (shown !== "") assert.isAbove(asked[1]!.length, 0, point)
        }
      }),
      (points) => assert.isAbove(points, 50)
    )
  )

  it.effect("is one message with all of the text, and the model is asked once, if the handler fails after it", () =>
    atEachPoint(
      goingOn(short),
      ({ asked, texts }, point) => {
        assert.deepStrictEqual(texts, [shownOf(short)], point)
        assert.isAtMost(asked.length, 2, point)
      },
      { fails: 1, step: 3 }
    )
  )

  it.effect("becomes shorter by no more than a second if a stream that begins again says the same", () =>
    atEachPoint(
      saying(short),
      ({ htmls, texts }, point) => {
        assert.deepStrictEqual(texts, [shownOf(short)], point)
        const lengths = htmls.map((html) => html.replace(/<[^>]*>/g, "").length)
        const lost = lengths.map((length, index) => (lengths[index - 1] ?? 0) - length)
        assert.isAtMost(Math.max(...lost), inSecond, `${point}: ${lengths.join(", ")}`)
      },
      { step: 2 }
    )
  )

  it.effect("is one message with the text of a stream that begins again and says something else", () =>
    atEachPoint(
      saying(short, "Something **else** is said, and it is shorter."),
      ({ asked, texts }, point) =>
        assert.deepStrictEqual(
          texts,
          [asked.length === 1 ? shownOf(short) : "Something else is said, and it is shorter."],
          point
        ),
      { step: 2 }
    )
  )

  it.effect("shows all of a text that has several messages, in order and once", () =>
    atEachPoint(
      goingOn(long),
      ({ asked, texts }, point) => {
        assert.isAtLeast(texts.length, 2, point)
        assert.strictEqual(withoutSpace(texts.join("")), withoutSpace(shownOf(long)), point)
        assert.isAtMost(asked.length, 2, point)
      },
      {
        step: 29,
        // Nothing is shown twice, also while another process goes on.
        onTick: (texts) => {
          const said = withoutSpace(texts.join(""))
          assert.isTrue(withoutSpace(shownOf(long)).startsWith(said), said.slice(-200))
        }
      }
    )
  )

  it.effect("leaves nothing of several messages if the next attempt has only one", () =>
    atEachPoint(
      saying(long, "It is short now."),
      ({ asked, texts }, point) => {
        if (asked.length === 2) assert.deepStrictEqual(texts, ["It is short now."], point)
        else assert.strictEqual(withoutSpace(texts.join("")), withoutSpace(shownOf(long)), point)
      },
      { step: 37 }
    )
  )
})

describe("an answer that was cut off by a kill", () => {
  /** A point between two edits. */
  const between = 54

  it.effect("is stopped by a press of its button that came while no process ran, and keeps the text so far", () =>
    Effect.gen(function* () {
      const {
        asked,
        shown = "",
        texts
      } = yield* play(between, goingOn(short), {
        whileDead: (ann, message) => Effect.orDie(ann.press(message, "Stop"))
      })
      assert.isAbove(shown.length, 50)
      assert.isAtMost(asked.length, 2)
      assert.lengthOf(texts, 1)
      assert.isTrue(shownOf(short).startsWith(texts[0]!), texts[0])
      assert.isBelow(texts[0]!.length, shown.length + inSecond)
    })
  )

  it.effect("keeps the text so far, with a notice, if the model fails from then on", () =>
    Effect.gen(function* () {
      let isFirst = true
      const { shown = "", texts } = yield* play(between, () =>
        Stream.suspend(() => {
          const answer = isFirst ? ticking(short) : Stream.fail("broken")
          isFirst = false
          return answer
        })
      )
      const [said = "", notice] = texts[0]!.split("\n\n")
      assert.isAbove(shown.length, 50)
      assert.isTrue(shownOf(short).startsWith(said), said)
      assert.isAtLeast(said.length, shown.length - inSecond)
      assert.strictEqual(notice, "The answer could not be completed.")
    })
  )
})

describe("an answer whose model fails", () => {
  it.effect("continues after the recorded text, at whatever word it fails", () =>
    Effect.forEach(
      short.match(/\S+\s*/g)!.map((_, index) => index),
      (failAt) =>
        Effect.map(
          play(Infinity, (asked) => (said) => {
            asked.push(said)
            const rest = ticking(short.slice(said.length))
            return asked.length > 1 ? rest : Stream.concat(Stream.take(rest, failAt), Stream.fail("broken"))
          }),
          ({ asked, texts }) => {
            assert.deepStrictEqual(asked, [
              "",
              short
                .match(/\S+\s*/g)!
                .slice(0, failAt)
                .join("")
            ])
            assert.deepStrictEqual(texts, [shownOf(short)])
          }
        )
    )
  )
})
