import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { bot } from "../src/languages.ts"
import en from "../src/languages/en.ts"
import ru from "../src/languages/ru.ts"

// The clock is the TestClock.
const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

const namesOf = (texts: string) => [...texts.matchAll(/^([\w-]+) =/gm)].map(([, name]) => name).sort()

describe("the bot with texts in several languages", () => {
  it("has each text in each language", () => {
    assert.deepStrictEqual(namesOf(ru), namesOf(en))
    assert.isAbove(namesOf(en).length, 10)
  })

  for (const [locale, texts] of [
    ["ru-RU", ["Какого размера?", "Большая", "Сколько?", "Напишите число, например 2.", "Да", "Уже печём."]],
    ["de", ["Which size?", "Large", "How many?", "Please write a number, such as 2.", "Yes", "We are baking."]]
  ] as const) {
    it.effect(`talks to a person whose messenger has the locale ${locale}`, () =>
      Effect.gen(function* () {
        const [size, large, count, again, yes, ordered] = texts
        const ann = yield* Emulator.user({ first_name: "Ann", locale })
        yield* ann.send("/order")
        const question = yield* ann.reply
        assert.strictEqual(question.body?.text, size)
        yield* ann.press(question, large)
        assert.strictEqual((yield* ann.reply).body?.text, count)
        yield* ann.send("many")
        assert.strictEqual((yield* ann.reply).body?.text, again)
        yield* ann.send("3")
        const last = yield* ann.reply
        const pizzas = locale === "de" ? "3 large pizzas. Is that right?" : "3 (большая) пиццы. Верно?"
        assert.strictEqual(last.body?.text, pizzas)
        yield* ann.press(last, yes)
        assert.strictEqual((yield* ann.reply).body?.text, ordered)
      }).pipe(Effect.raceFirst(bot), Effect.provide(platform))
    )
  }

  it.effect("says the end of a conversation by a timer, and replies in a group, in the language of the dialog", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(bot)
      const ann = yield* Emulator.user({ first_name: "Ann", locale: "ru" })
      yield* ann.send("/order")
      yield* ann.reply
      yield* TestClock.adjust("61 minutes")
      assert.strictEqual((yield* ann.reply).body?.text, "Вы не ответили.")
      const group = yield* Emulator.chat({ members: [ann] })
      yield* ann.send(group, "hi")
      yield* TestClock.adjust("1 second")
      const texts = (yield* Emulator.messages(group)).map(({ body }) => body?.text)
      assert.include(texts, "Привет, Ann. Отправьте /order или /language.")
    }).pipe(Effect.provide(platform))
  )

  it.effect("follows the language that a person chooses, in the menu and after that", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user({ first_name: "Ann", locale: "ru" })
      yield* ann.send("/language")
      const menu = yield* ann.reply
      assert.strictEqual(menu.body?.text, "Язык — русский.")
      yield* ann.press(menu, "English")
      const dialog = yield* ann.dialog
      const text = Effect.map(
        Emulator.messages(dialog),
        (all) => all.find(({ body }) => body?.mid === menu.body?.mid)?.body?.text
      )
      yield* Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), text), {
        while: (text) => text === "Язык — русский."
      })
      assert.strictEqual(yield* text, "The language is English.")
      yield* ann.send("hello")
      assert.strictEqual((yield* ann.reply).body?.text, "Hello, Ann. Send /order or /language.")
    }).pipe(Effect.raceFirst(bot), Effect.provide(platform))
  )
})
