/** A day of each bot, and what has to hold at its end. */
import { type Handler, Recipient } from "@colloquy/core"
import { type Person, Simulation } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, Layer } from "effect"
import * as Assistant from "../../src/assistant.ts"
import * as Feeds from "../../src/services/feeds.ts"
import * as Payments from "../../src/services/payments.ts"
import { answersOf, deedsOf, removalsOf, wordsOf } from "./history.ts"

type Bot = Handler.Handler<unknown, never>

type Seeds = number | ReadonlyArray<number>

type Simulate = (bot: Bot, seeds: Seeds) => Effect.Effect<void, Simulation.SimulationFailed>

const payments = Simulation.service(Payments.Payments, Payments.makeMemory)

/**
 * The rules for a harsh world. An answer to a press gets lost, because the answer is sent in one attempt. A message to a dialog, which
 * the bot may not read, is sent again if the process is killed before the message is recorded. An attempt that cannot store the answer
 * to a question dies, and is repeated.
 */
const always = [Simulation.noDeadLetters, Simulation.noDialogIsStuck, Simulation.limitsAreKept]

/** A day of people with a purpose alone. */
const harshDay = { days: 1, people: 0, faults: "harsh", always } as const

/** The payments that were carried out. */
const paidOf = (calls: Simulation.Calls<Payments.Payments["Service"]>): ReadonlyMap<number, number> =>
  new Map(calls.charge.flatMap(({ args: [amount], result }) => (result === null ? [] : [[result, amount]])))

/** A person who orders a large pizza. The payment of a pizza with three toppings is declined. */
const orders = (chosen: ReadonlyArray<string>): Simulation.Visitor =>
  function* (ann) {
    yield* ann.start()
    yield* ann.reply
    yield* ann.send("/order")
    yield* ann.press(yield* ann.reply, "Large")
    const toppings = yield* ann.reply
    for (const topping of chosen) yield* ann.press(toppings, topping)
    yield* ann.press(toppings, "Done")
    yield* ann.reply
    yield* ann.send("Long Lane 7")
    yield* ann.press(yield* ann.reply, "Yes")
    yield* ann.reply
  }

const pizza: Simulate = (bot, seeds) =>
  Simulation.run(bot, {
    seeds,
    days: 1,
    people: 2,
    faults: "harsh",
    services: { payments },
    always,
    visitors: [orders(["Ham"]), orders(["Ham", "Olives", "Mushrooms"])],
    atEnd: ({ history, payments }) => {
      const thanks = wordsOf(history).flatMap(({ text }) => /^Thank you! .* number (\d+)\.$/.exec(text)?.[1] ?? [])
      assert.sameMembers([...new Set(thanks.map(Number))], [...paidOf(payments).keys()], "Each payment is an order")
      const accepted = wordsOf(history).filter(({ text }) => text.includes("accepted"))
      assert.isAtMost(accepted.length, paidOf(payments).size, "Nobody is thanked who has not paid")
    }
  })

/** The settings of the bots, which read the chat of the staff in each handler. */
const settings: { STAFF_CHAT?: string } = {}

/** The first of the staff opens the dialog in which the staff works. Returns whether a person is the first. */
const isStaff = function* (person: Person.Person) {
  if (settings.STAFF_CHAT !== undefined) return false
  settings.STAFF_CHAT = "opening"
  yield* person.start()
  settings.STAFF_CHAT = String((yield* person.dialog).chat_id)
  return true
}

/** Customers come when the staff is there. */
const untilStaff = Effect.sleep("1 minute").pipe(
  Effect.repeat({ until: () => !Number.isNaN(Number(settings.STAFF_CHAT)) })
)

/** Each seed has its own staff. */
const withStaff = (simulate: (seed: number) => Effect.Effect<void, Simulation.SimulationFailed>, seeds: Seeds) => {
  const all = typeof seeds === "number" ? Array.from({ length: seeds }, (_, index) => index + 1) : seeds
  const one = (seed: number) =>
    Effect.suspend(() => {
      delete settings.STAFF_CHAT
      return simulate(seed)
    })
  return Effect.provideService(
    Effect.forEach(all, one, { discard: true }),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown(settings)
  )
}

const shop: Simulate = (bot, seeds) =>
  withStaff(
    (seed) =>
      Simulation.run(bot, {
        seeds: [seed],
        ...harshDay,
        services: { payments },
        visitors: [
          function* (olga) {
            if (!(yield* isStaff(olga))) return
            yield* olga.reply
            for (;;) {
              const order = yield* olga.reply
              yield* Effect.all([olga.press(order, "Ready"), olga.press(order, "Ready")], { concurrency: 2 })
            }
          },
          function* (ann) {
            yield* untilStaff
            yield* ann.start()
            yield* ann.reply
            yield* ann.send("/shop")
            const shop = yield* ann.reply
            yield* ann.press(shop, "Tea 4 €")
            const cart = (yield* ann.next("Edited")).message
            yield* Effect.all([ann.press(cart, "Pay 4 €"), ann.press(cart, "Pay 4 €")], { concurrency: 2 })
            yield* ann.press(yield* ann.reply, "I have it")
            yield* Effect.sleep("1 hour")
          }
        ],
        atEnd: ({ history, payments }) => {
          const words = wordsOf(history)
          const ready = words.flatMap(({ text }) => /^Your order \d+ is ready/.exec(text) ?? [])
          assert.lengthOf(new Set(ready), ready.length, "Each order is ready once")
          const paid = [...paidOf(payments).values()].reduce((sum, amount) => sum + amount, 0)
          const added = deedsOf(history).filter(({ text }) => text === "Tea 4 €").length * 4
          assert.isAtMost(paid, added, "Nobody pays more than the price")
          for (const { at, chat_id } of deedsOf(history).filter(({ text }) => text === "I have it")) {
            const later = words.find(
              (word) => word.chat_id === chat_id && word.at > at + 60_000 && /is waiting/.test(word.text)
            )
            assert.isUndefined(later, "Nobody is reminded of an order that is collected")
          }
        }
      }),
    seeds
  )

const quiz: Simulate = (bot, seeds) =>
  Simulation.run(bot, {
    seeds,
    days: 1,
    people: 2,
    faults: "mild",
    visitors: [
      function* (ann) {
        yield* ann.start()
        yield* ann.reply
        for (;;) {
          yield* ann.send("/quiz")
          for (const [wrong, right] of [
            ["Perth", "Canberra"],
            ["Ten", "Eight"],
            ["Tin", "Mercury"]
          ] as const) {
            const question = yield* ann.reply
            yield* ann.press(question, wrong)
            yield* ann.press(question, right)
            yield* ann.reply
            yield* ann.press(yield* ann.reply, "Eight")
          }
          yield* ann.send("/best")
          yield* Effect.sleep("2 hours")
        }
      }
    ],
    atEnd: ({ history }) => {
      const answers = answersOf(history)
      const wrong = new Set<string>()
      for (const { callback_id, message_id, user_id } of deedsOf(history)) {
        if (callback_id === undefined || answers.get(callback_id) !== "That is wrong.") continue
        const chance = `${message_id} ${user_id}`
        assert.isFalse(wrong.has(chance), "Each member has one chance")
        wrong.add(chance)
      }
    }
  })

const feed = "https://news.example/feed.xml"

const hour = 3_600_000

/** A feed with a new entry in each hour. */
const feeds = Simulation.service(
  Feeds.Feeds,
  () => ({
    read: (url) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        Array.from({ length: 20 }, (_, age) => {
          const id = String(Math.floor(now / hour) - age)
          return { id, title: `Entry ${id}`, url: `${url}/${id}` }
        })
      )
  }),
  { failure: () => new Feeds.FeedUnavailable({ url: feed, cause: "the site is down" }) }
)

const rss: Simulate = (bot, seeds) =>
  Simulation.run(bot, {
    seeds,
    ...harshDay,
    services: { feeds },
    visitors: [
      function* (ann) {
        yield* ann.start()
        yield* ann.reply
        yield* ann.send(`/follow ${feed}`)
        yield* ann.reply
      }
    ],
    atEnd: ({ history }) => {
      const entries = new Map<number, Array<number>>()
      for (const { chat_id, text } of wordsOf(history)) {
        const [, id] = /Entry (\d+)/.exec(text) ?? []
        if (id !== undefined) entries.set(chat_id, [...(entries.get(chat_id) ?? []), Number(id)])
      }
      for (const ids of entries.values()) {
        const known = [...new Set(ids)].sort((a, b) => a - b)
        assert.strictEqual(known.at(-1)! - known[0]! + 1, known.length, "No entry is missing")
      }
    }
  })

const desk: Simulate = (bot, seeds) =>
  withStaff(
    (seed) =>
      Simulation.run(bot, {
        seeds: [seed],
        ...harshDay,
        visitors: [
          function* (olga) {
            if (!(yield* isStaff(olga))) return
            for (;;) {
              const { body, link } = yield* olga.reply
              if (link?.type === "forward")
                yield* olga.send("It arrives today.", { link: { type: "reply", mid: body!.mid } })
            }
          },
          function* (ann) {
            yield* untilStaff
            yield* ann.start()
            yield* ann.send("Where is my order?")
          }
        ],
        atEnd: ({ history }) => {
          const words = wordsOf(history)
          for (const { chat_id, text } of deedsOf(history)) {
            if (text !== "Where is my order?") continue
            const thanks = words.filter((word) => word.chat_id === chat_id && word.text.startsWith("Thank you"))
            assert.isNotEmpty(thanks, "Each question gets a first answer")
          }
        }
      }),
    seeds
  )

const group = Recipient.ChatId.make(-700)

/** Newcomers, of whom some press the button, some leave, and the others do neither. */
const moderation: Simulate = (bot, seeds) =>
  Effect.provideService(
    Simulation.run(bot, {
      seeds,
      days: 1,
      people: 2,
      faults: "harsh",
      always,
      chats: [{ chat_id: group, title: "Neighbours" }],
      visitors: [
        function* (ben) {
          yield* ben.join(group)
        },
        function* (mia) {
          yield* mia.join(group)
          for (;;) yield* mia.press(yield* mia.reply, "I am a person")
        },
        function* (tim) {
          yield* tim.join(group)
          yield* Effect.sleep("20 seconds")
          yield* tim.leave(group)
        }
      ],
      atEnd: ({ history }) => {
        const deeds = deedsOf(history).filter(({ chat_id }) => chat_id === group)
        // A member who has pressed the button can join again without an update.
        for (const { at, user_id } of deeds.filter(({ action }) => action === "join")) {
          const isSilent = deeds.every(
            (deed) => deed.user_id !== user_id || (deed.action !== "press" && (deed.action !== "leave" || deed.at < at))
          )
          const isRemoved = removalsOf(history).some((removal) => removal.user_id === user_id && removal.at > at)
          assert.isTrue(isRemoved || !isSilent, "Each silent newcomer is removed")
        }
      }
    }),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown({})
  )

const questions = ["Where is the order 2?", "Tell me about tea"]

/** People who ask a question, and stop the answer of the second one. */
const assistant: Simulate = (bot, seeds) =>
  Simulation.run(bot, {
    seeds,
    ...harshDay,
    layer: Layer.orDie(Assistant.services),
    visitors: [
      function* (ann) {
        yield* ann.start()
        yield* ann.send(questions[0]!)
        yield* Effect.sleep("10 minutes")
        yield* ann.send(questions[1]!)
        yield* ann.press(yield* ann.reply, "Stop")
      }
    ],
    atEnd: ({ history }) => {
      const asked = deedsOf(history).filter(({ text }) => questions.includes(text))
      for (const chat of new Set(asked.map(({ chat_id }) => chat_id))) {
        const answers = wordsOf(history).filter(({ chat_id }) => chat_id === chat)
        const inChat = asked.filter(({ chat_id }) => chat_id === chat)
        assert.isAtLeast(answers.length, inChat.length, "Each question is answered")
      }
    }
  })

const echo: Simulate = (bot, seeds) =>
  Simulation.run(bot, {
    seeds,
    ...harshDay,
    visitors: [
      function* (ann) {
        yield* ann.start()
        for (const text of ["one", "two", "three"]) yield* ann.send(text)
      }
    ],
    atEnd: ({ history }) => {
      for (const { chat_id, text } of deedsOf(history)) {
        if (!["one", "two", "three"].includes(text)) continue
        const echoes = wordsOf(history).filter((word) => word.chat_id === chat_id && word.text === text)
        assert.isNotEmpty(echoes, "Each text is repeated")
      }
    }
  })

/** A simulation of a bot, which fails if a rule does not hold in one of the seeds. */
export const simulations = { pizza, shop, quiz, rss, desk, moderation, assistant, echo } satisfies Record<
  string,
  Simulate
>

export type SimulatedBot = keyof typeof simulations
