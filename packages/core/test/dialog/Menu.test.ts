import { Emulator, EmulatorHttp, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as InboxStore from "../../src/inbox/InboxStore.ts"
import {
  Answers,
  AttachmentRequest,
  Bot,
  type BotApi,
  type Chat,
  Command,
  Handler,
  type Inbox,
  Keyboard,
  Menu,
  type Message,
  Messages,
  Payload,
  State,
  Update,
  User
} from "../../src/index.ts"
import { during, platform, settled } from "../support/restarts.ts"

const press = () => Effect.void

const button = (name: string, text = name) => Menu.button(name, text, press)

const ofRows = (rows: Menu.Content<unknown>["rows"]) => Menu.make("shop", () => ({ text: "Shop", rows }))

const problemOf = (rows: Menu.Content<unknown>["rows"]) =>
  Effect.map(Effect.flip(ofRows(rows).message()), (error) => {
    assert.instanceOf(error, Menu.InvalidMenu)
    return error.message
  })

const rowsOf = (count: number, columns = 1) =>
  Array.from({ length: count }, (_, row) => Array.from({ length: columns }, (_, column) => button(`${row} ${column}`)))

describe("Menu", () => {
  it.effect("shows as many rows and buttons as the platform allows, and fails with a solution for more", () =>
    Effect.gen(function* () {
      const [keyboard] = (yield* ofRows(rowsOf(30, 7)).message()).attachments ?? []
      assert.strictEqual(keyboard?.type === "inline_keyboard" && keyboard.payload.buttons.flat().length, 210)
      assert.strictEqual(
        yield* problemOf(rowsOf(31)),
        'Cannot show the page "main" of the menu "shop": its keyboard `payload.buttons` must hold at most 30 rows, holds 31. ' +
          "Show long lists by Menu.list, which has pages."
      )
      assert.include(yield* problemOf(rowsOf(1, 8)), "`payload.buttons[0]` must hold at most 7 buttons, holds 8")
      const links = Array.from({ length: 4 }, () => Keyboard.link("Read", "https://example.org"))
      assert.include(yield* problemOf([links]), "must hold at most 3 buttons if one of them is link")
      assert.include(yield* problemOf([[button("empty", "")]]), "text` must be 1 to 128 characters, is 0")
    })
  )

  it.effect("fails if two buttons of a page have the same name", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* problemOf([[button("tea", "Green"), Menu.once(button("tea", "Black"))]]),
        'Cannot show the page "main" of the menu "shop": the buttons "Green" and "Black" have the same name, "tea". ' +
          "Give each button a name of its own."
      )
    })
  )

  it.effect("fails if two lists of a page have the same name, because both would turn", () =>
    Effect.gen(function* () {
      const list = (prefix: string) => Menu.list("items", [1, 2, 3], (id) => button(`${prefix} ${id}`), { perPage: 2 })
      assert.strictEqual(
        yield* problemOf([list("tea"), list("cup")]),
        'Cannot show the page "main" of the menu "shop": two of its lists have the same name, "items". Give each list a name ' +
          "of its own."
      )
    })
  )

  it.effect("fails if the payload of a button is too long", () =>
    Effect.gen(function* () {
      const menu = Menu.make(
        "shop",
        { pages: { main: Schema.Void, search: Schema.String } },
        {
          main: () => ({ rows: [] }),
          search: ({ params }) => ({ text: params, rows: [[button("again")]] })
        }
      )
      const error = yield* Effect.flip(menu.message("search", "x".repeat(1000)))
      assert.instanceOf(error, Payload.InvalidPayload)
      assert.include(error.message, "store the value and put its id in the payload")
      assert.strictEqual((yield* menu.message("search", "x".repeat(900))).attachments?.length, 1)
    })
  )

  it.effect("fails if the parameters of a page do not match their schema, or if there is no such page", () =>
    Effect.gen(function* () {
      const menu = Menu.make(
        "shop",
        { pages: { product: Schema.Struct({ id: Schema.Int }) } },
        {
          product: ({ open }) => ({ text: "Product", rows: [[open("Other", "other" as "product", { id: 1 })]] })
        }
      )
      const mismatch = yield* Effect.flip(menu.message("product", { id: 0.5 }))
      assert.include(
        mismatch.message,
        'the page "product" of the menu "shop": its parameters do not match their schema'
      )
      const missing = yield* Effect.flip(menu.message("product", { id: 1 }))
      assert.strictEqual(
        missing.message,
        'Cannot show the page "other" of the menu "shop": there is no such page. Its pages are product.'
      )
    })
  )

  it.effect("of a user fails where no user is known", () =>
    Effect.gen(function* () {
      const menu = Menu.make("shop", { of: "userInChat" }, () => ({ text: "Shop", rows: [[Menu.close("Close")]] }))
      const error = yield* Effect.flip(menu.message())
      assert.include(error.message, "Use `reply`, or `send` with the `user_id`")
    })
  )

  it.effect("keeps the attachments of a page beside its keyboard, and has no keyboard without buttons", () =>
    Effect.gen(function* () {
      const image = { type: "image", payload: { token: "t" } } as const
      const menu = Menu.make("shop", () => ({ text: "Shop", format: "html", attachments: [image], rows: [] }))
      assert.deepStrictEqual(yield* menu.message(), { text: "Shop", format: "html", attachments: [image] })
      const withButton = Menu.make("shop", () => ({ attachments: [image], rows: [[Menu.refresh("Again")], []] }))
      assert.deepStrictEqual(
        (yield* withButton.message()).attachments?.map(({ type }) => type),
        ["image", "inline_keyboard"]
      )
    })
  )

  it("throws if its name is not the name of a payload, or its version is no positive whole number", () => {
    assert.throws(
      () => Menu.make("my menu", () => ({ rows: [] })),
      'The menu "my menu" needs a name of letters, digits and _.'
    )
    assert.throws(
      () => Menu.make("menu", { version: 1.5 }, () => ({ rows: [] })),
      'The menu "menu" needs a `version` that is a positive whole number.'
    )
  })

  it("declines updates that are not presses of its buttons", () => {
    const menu = ofRows([[button("one")]])
    const callback = (payload: string) =>
      ({
        update_type: "message_callback",
        timestamp: 1,
        callback: {
          timestamp: 1,
          callback_id: "1",
          payload,
          user: { user_id: User.UserId.make(1), first_name: "Ann", is_bot: false }
        }
      }) as Update.Update
    for (const payload of ["", "vote:1", "menu_shopping:{}", "shop:{}"]) {
      assert.isUndefined(menu(callback(payload)))
    }
  })
})

const Settings = State.make(
  "settings",
  Schema.Struct({ sound: Schema.Boolean, language: Schema.Literals(["en", "ru"]) }),
  { of: "user", initial: () => ({ sound: true, language: "en" as const }) }
)

const settings = Menu.make("settings", () =>
  Effect.map(Settings.get, ({ language, sound }) => ({
    text: "Settings",
    rows: [
      [Menu.toggle("sound", "Sound", sound, (sound) => Settings.update((all) => ({ ...all, sound })))],
      Menu.radio("language", {
        choices: { en: "English", ru: "Русский" },
        chosen: language,
        set: (language) => Settings.update((all) => ({ ...all, language })),
        columns: 2
      }),
      [Menu.close("Close")]
    ]
  }))
)

const settingsBot = Handler.first(
  Command.make("settings").on((update) => settings.reply(update)),
  settings
)

const Orders = State.make("orders", Schema.Int, { of: "chat", initial: () => 0 })

const titles = (count: number) => Array.from({ length: count }, (_, index) => `Tea ${index + 1}`)

/** A shop, as the program has it at a time. */
const makeShop = (products: ReadonlyArray<string>) =>
  Menu.make(
    "shop",
    { pages: { main: Schema.Void, product: Schema.Struct({ title: Schema.String }) } },
    {
      main: ({ open }) => ({
        text: "What would you like?",
        rows: [
          Menu.list("products", products, (title) => open(title, "product", { title }), { perPage: 3 }),
          [Keyboard.link("Our site", "https://example.org")]
        ]
      }),
      product: ({ go, params: { title } }) => ({
        text: title,
        rows: [
          [
            Menu.button("order", "Order", () =>
              Effect.map(
                Orders.update((count) => count + 1),
                (count) => Menu.notify(`Order ${count}`, go("main"))
              )
            )
          ],
          [Menu.back("Back")]
        ]
      })
    }
  )

const shopBot = (products: ReadonlyArray<string>) => {
  const shop = makeShop(products)
  return Handler.first(
    Command.make("shop").on((update) => shop.reply(update)),
    shop
  )
}

/** The texts of a message and of its buttons. */
const view = ({ body }: Message.Message) => {
  const keyboard = body?.attachments?.find(({ type }) => type === "inline_keyboard")
  const buttons = keyboard?.type === "inline_keyboard" ? keyboard.payload.buttons : []
  return [
    body?.text ?? "",
    ...buttons.map((row) => row.map((button) => ("text" in button ? button.text : "")).join(" | "))
  ]
}

const last = (chat: Chat.Chat) =>
  Effect.map(Emulator.messages(chat), (messages) => messages.at(-1) ?? assert.fail("no message"))

const lastView = (chat: Chat.Chat) => Effect.map(last(chat), view)

/** Presses a button of the last message of a chat while a program runs. */
const pressLast = <E>(
  bot: Handler.Handler<E, BotApi.BotApi | Inbox.Inbox>,
  person: Person.Person,
  chat: Chat.Chat,
  button: string
) =>
  during(
    bot,
    Effect.flatMap(last(chat), (message) => person.press(message, button))
  )

const notifications = Effect.map(
  Emulator.Emulator.use(({ seen }) => seen),
  (events) => events.flatMap((event) => (event._tag === "Notification" ? [event.text] : []))
)

const outdated = "This menu was out of date and has been updated."

const deadLetters = Effect.flatMap(InboxStore.InboxStore, ({ stats }) =>
  Effect.map(stats, ({ deadLetters }) => deadLetters)
)

const main = (...lines: ReadonlyArray<string>) => ["What would you like?", ...lines, "Our site"]

describe("a menu on the emulator", () => {
  it.effect("edits its message in place when a toggle, a choice and the button that closes it are pressed", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      yield* during(
        settingsBot,
        Effect.gen(function* () {
          yield* ann.send("/settings")
          yield* settled
          const shown = yield* last(dialog)
          assert.deepStrictEqual(view(shown), ["Settings", "✓ Sound", "✓ English | Русский", "Close"])
          yield* ann.press(shown, "✓ Sound")
          yield* settled
          assert.deepStrictEqual(yield* lastView(dialog), ["Settings", "Sound", "✓ English | Русский", "Close"])
          yield* ann.press(shown, "Русский")
          yield* settled
          assert.deepStrictEqual(yield* lastView(dialog), ["Settings", "Sound", "English | ✓ Русский", "Close"])
          yield* ann.press(shown, "Close")
        })
      )
      assert.deepStrictEqual(yield* lastView(dialog), ["Settings"])
      assert.deepStrictEqual(yield* notifications, [])
      assert.strictEqual((yield* Emulator.messages(dialog)).length, 2)
    }).pipe(Effect.provide(platform))
  )

  it.effect("goes on after a restart before each press: parts of a list, a sub-menu, an order, and back", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const press = (button: string) =>
        Effect.gen(function* () {
          yield* during(
            shopBot(titles(7)),
            Effect.flatMap(last(dialog), (message) => ann.press(message, button))
          )
          return yield* lastView(dialog)
        })
      yield* during(shopBot(titles(7)), ann.send("/shop"))
      assert.deepStrictEqual(yield* lastView(dialog), main("Tea 1", "Tea 2", "Tea 3", "1/3 | ›"))
      assert.deepStrictEqual(yield* press("›"), main("Tea 4", "Tea 5", "Tea 6", "‹ | 2/3 | ›"))
      assert.deepStrictEqual(yield* press("Tea 5"), ["Tea 5", "Order", "Back"])
      assert.deepStrictEqual(yield* press("Back"), main("Tea 4", "Tea 5", "Tea 6", "‹ | 2/3 | ›"))
      assert.deepStrictEqual(yield* press("2/3"), main("Tea 4", "Tea 5", "Tea 6", "‹ | 2/3 | ›"))
      assert.deepStrictEqual(yield* press("›"), main("Tea 7", "‹ | 3/3"))
      assert.deepStrictEqual(yield* press("Tea 7"), ["Tea 7", "Order", "Back"])
      assert.deepStrictEqual(yield* press("Order"), main("Tea 7", "‹ | 3/3"))
      assert.deepStrictEqual(yield* notifications, ["Order 1"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("sets a value once if its button is pressed twice, and answers the second press as outdated", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      yield* during(settingsBot, ann.send("/settings"))
      const shown = yield* last(dialog)
      yield* ann.press(shown, "✓ Sound")
      yield* ann.press(shown, "✓ Sound")
      yield* during(settingsBot, Effect.void)
      assert.deepStrictEqual(yield* lastView(dialog), ["Settings", "Sound", "✓ English | Русский", "Close"])
      assert.deepStrictEqual(yield* notifications, [outdated])
    }).pipe(Effect.provide(platform))
  )

  it.effect(
    "counts each press of a button, and only the first of one that counts once each time that it is shown",
    () =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const dialog = yield* ann.start()
        const add = Effect.asVoid(Orders.update((count) => count + 1))
        const counter = Menu.make("counter", { onOutdated: () => Menu.notify("Too late") }, () => ({
          text: "Orders",
          rows: [[Menu.button("add", "Add", () => add), Menu.once(Menu.button("once", "Once", () => add))]]
        }))
        const bot = Handler.first(
          Command.make("count").on((update) => counter.reply(update)),
          counter,
          Command.make("total").on((update) =>
            Effect.flatMap(Orders.get, (count) => Messages.reply(update, `${count}`))
          )
        )
        yield* during(bot, ann.send("/count"))
        const shown = yield* last(dialog)
        const total = Effect.gen(function* () {
          yield* during(bot, ann.send("/total"))
          return (yield* last(dialog)).body?.text
        })
        for (const button of ["Add", "Add", "Add"]) yield* ann.press(shown, button)
        assert.strictEqual(yield* total, "3")
        for (const button of ["Once", "Once", "Once"]) yield* ann.press(shown, button)
        assert.strictEqual(yield* total, "4")
        assert.deepStrictEqual(yield* notifications, ["Too late", "Too late"])
        yield* ann.press(shown, "Once")
        assert.strictEqual(yield* total, "5")
      }).pipe(Effect.provide(platform))
  )

  it.effect("keeps the last message of a menu after a second tap on a button that counts once", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const shop = Menu.make("shop", () =>
        Effect.map(Orders.get, (count) => ({
          text: `Orders: ${count}`,
          rows:
            count > 0
              ? []
              : [[Menu.once(Menu.button("buy", "Buy", () => Effect.as(Orders.set(1), Menu.finish("Thank you"))))]]
        }))
      )
      const bot = Handler.first(
        Command.make("shop").on((update) => shop.reply(update)),
        shop
      )
      yield* during(bot, ann.send("/shop"))
      const shown = yield* last(dialog)
      yield* ann.press(shown, "Buy")
      yield* ann.press(shown, "Buy")
      yield* during(bot, Effect.void)
      assert.deepStrictEqual(yield* lastView(dialog), ["Thank you"])
      assert.deepStrictEqual(yield* notifications, [outdated])
    }).pipe(Effect.provide(platform))
  )

  it.effect("counts the presses of two people in a group, each made for the person who pressed", () =>
    Effect.gen(function* () {
      const [ann, ben] = [yield* Emulator.user("Ann"), yield* Emulator.user("Ben")]
      const group = yield* Emulator.chat({ members: [ann, ben], bot: { admin: true } })
      const Votes = State.make("votes", Schema.Array(Schema.String), { of: "chat", initial: () => [] })
      const poll = Menu.make("poll", () =>
        Effect.map(Votes.get, (votes) => ({
          text: `Votes: ${votes.join(", ")}`,
          rows: [
            [
              Menu.button("vote", `Vote (${votes.length})`, ({ callback: { user } }) =>
                Votes.update((votes) => [...votes.filter((name) => name !== user.first_name), user.first_name])
              )
            ]
          ]
        }))
      )
      const bot = Handler.first(
        Command.make("poll").on((update) => poll.reply(update)),
        poll
      )
      yield* during(bot, ann.send(group, "/poll"))
      const shown = yield* last(group)
      yield* ann.press(shown, "Vote (0)")
      yield* ben.press(shown, "Vote (0)")
      yield* ann.press(shown, "Vote (0)")
      yield* during(bot, Effect.void)
      assert.deepStrictEqual(yield* lastView(group), ["Votes: Ben, Ann", "Vote (2)"])
      assert.deepStrictEqual(yield* notifications, [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("does nothing for a press of a button that its page has for others, also one that closes or turns it", () =>
    Effect.gen(function* () {
      const [ann, ben] = yield* Effect.all([Emulator.user("Ann"), Emulator.user("Ben")])
      const group = yield* Emulator.chat({ members: [ann, ben], bot: { admin: true } })
      const menu = Menu.make(
        "poll",
        { pages: { main: Schema.Void, inner: Schema.Void } },
        {
          main: ({ open }) => ({ text: "Main", rows: [[open("Open", "inner")]] }),
          inner: ({ update }) => ({
            text: "Poll",
            rows: [
              [button("vote")],
              ...(update !== undefined && Update.userIdOf(update) === ann.user_id
                ? [
                    [Menu.close("Close"), Menu.back("Back"), Menu.refresh("Again")],
                    Menu.list("voters", ["a", "b"], (name) => button(name), { perPage: 1 })
                  ]
                : [])
            ]
          })
        }
      )
      const bot = Handler.first(
        Command.make("poll").on((update) => menu.reply(update, "inner")),
        menu
      )
      for (const text of ["Close", "Back", "Again", "›"]) {
        yield* during(bot, ann.send(group, "/poll"))
        yield* pressLast(bot, ben, group, text)
        assert.deepStrictEqual(yield* lastView(group), ["Poll", "vote"])
      }
    }).pipe(Effect.provide(platform))
  )

  it.effect("of one user in a group is not pressed by others, who are told so", () =>
    Effect.gen(function* () {
      const [ann, ben] = [yield* Emulator.user("Ann"), yield* Emulator.user("Ben")]
      const group = yield* Emulator.chat({ members: [ann, ben], bot: { admin: true } })
      const mine = Menu.make("mine", { of: "userInChat" }, () =>
        Effect.map(Settings.get, ({ sound }) => ({
          text: "Mine",
          rows: [[Menu.toggle("sound", "Sound", sound, (sound) => Settings.update((all) => ({ ...all, sound })))]]
        }))
      )
      const bot = Handler.first(
        Command.make("mine").on((update) => mine.reply(update)),
        mine
      )
      yield* during(bot, ann.send(group, "/mine"))
      const shown = yield* last(group)
      yield* during(bot, ben.press(shown, "✓ Sound"))
      assert.deepStrictEqual(yield* lastView(group), ["Mine", "✓ Sound"])
      assert.deepStrictEqual(yield* notifications, ["These buttons are for somebody else."])
      yield* during(bot, ann.press(shown, "✓ Sound"))
      assert.deepStrictEqual(yield* lastView(group), ["Mine", "Sound"])
    }).pipe(Effect.provide(platform))
  )

  describe("after a deploy", () => {
    /** Shows a menu by one program, presses a button while another one runs, and returns what is shown then. */
    const pressedAfter = <E, E2>(
      before: Handler.Handler<E, never>,
      after: Handler.Handler<E2, never>,
      command: string,
      ...buttons: ReadonlyArray<string>
    ) =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const dialog = yield* ann.start()
        yield* during(before as never, ann.send(command))
        for (const button of buttons.slice(0, -1)) {
          yield* pressLast(before as never, ann, dialog, button)
        }
        yield* pressLast(after as never, ann, dialog, buttons.at(-1)!)
        assert.strictEqual(yield* deadLetters, 0)
        return { view: yield* lastView(dialog), notifications: yield* notifications }
      }).pipe(Effect.provide(platform))

    const shop = (products: ReadonlyArray<string>) => shopBot(products) as Handler.Handler<unknown, never>

    it.effect("a button still means its item if the items have moved", () =>
      Effect.gen(function* () {
        const moved = ["Coffee", "Milk", "Juice", ...titles(3)]
        const { notifications, view } = yield* pressedAfter(shop(titles(3)), shop(moved), "/shop", "Tea 2")
        assert.deepStrictEqual(view, ["Tea 2", "Order", "Back"])
        assert.deepStrictEqual(notifications, [])
      })
    )

    it.effect("a button whose item is gone is answered, and the items are shown as they are", () =>
      Effect.gen(function* () {
        const { notifications, view } = yield* pressedAfter(shop(titles(3)), shop(["Coffee"]), "/shop", "Tea 2")
        assert.deepStrictEqual(view, main("Coffee"))
        assert.deepStrictEqual(notifications, [outdated])
      })
    )

    it.effect("a part of a list that is gone is replaced by the last one", () =>
      Effect.gen(function* () {
        const { view } = yield* pressedAfter(shop(titles(9)), shop(titles(4)), "/shop", "›", "›")
        assert.deepStrictEqual(view, main("Tea 4", "‹ | 2/2"))
      })
    )

    it.effect("a page that is gone, or has other parameters, is replaced by the page before", () =>
      Effect.gen(function* () {
        const without = Menu.make("shop", () => ({ text: "Closed", rows: [[Menu.close("Bye")]] }))
        const other = Menu.make(
          "shop",
          { pages: { main: Schema.Void, product: Schema.Struct({ id: Schema.Int }) } },
          {
            main: () => ({ text: "By id", rows: [] }),
            product: ({ params: { id } }) => ({ text: `${id}`, rows: [] })
          }
        )
        for (const [after, text] of [
          [without, "Closed"],
          [other, "By id"]
        ] as const) {
          const { notifications, view } = yield* pressedAfter(
            shop(titles(3)),
            after as never,
            "/shop",
            "Tea 2",
            "Order"
          )
          assert.strictEqual(view[0], text)
          assert.deepStrictEqual(notifications, [outdated])
        }
      })
    )

    it.effect("a button of a page that is gone is not the button of this name of the page before", () =>
      Effect.gen(function* () {
        const wipe = (title: string) => [Menu.button("wipe", "Wipe", () => Menu.notify(`Wiped ${title}`))]
        const before = Menu.make(
          "desk",
          { pages: { main: Schema.Void, drawer: Schema.Void } },
          {
            main: ({ open }) => ({ text: "Desk", rows: [[open("Drawer", "drawer")], wipe("the desk")] }),
            drawer: () => ({ text: "Drawer", rows: [wipe("the drawer"), [Menu.back("Back")]] })
          }
        )
        const after = Menu.make("desk", () => ({ text: "Desk", rows: [wipe("the desk")] }))
        const bot = Handler.first(
          Command.make("desk").on((update) => before.reply(update)),
          before
        )
        for (const button of ["Wipe", "Back"]) {
          const { notifications, view } = yield* pressedAfter(bot as never, after as never, "/desk", "Drawer", button)
          assert.deepStrictEqual(view, ["Desk", "Wipe"])
          assert.deepStrictEqual(notifications, [outdated])
        }
      })
    )

    it.effect("a menu whose pages are all gone loses its keyboard", () =>
      Effect.gen(function* () {
        const renamed = Menu.make(
          "shop",
          { pages: { start: Schema.Void } },
          { start: () => ({ text: "Start", rows: [] }) }
        )
        const { notifications, view } = yield* pressedAfter(shop(titles(3)), renamed as never, "/shop", "Tea 2")
        assert.deepStrictEqual(view, ["What would you like?"])
        assert.deepStrictEqual(notifications, [outdated])
      })
    )

    it.effect("a menu that is gone loses its keyboard", () =>
      Effect.gen(function* () {
        const { notifications, view } = yield* pressedAfter(shop(titles(3)), Bot.make() as never, "/shop", "Tea 2")
        assert.deepStrictEqual(view, ["What would you like?"])
        assert.deepStrictEqual(notifications, ["This button is out of date."])
      })
    )
  })

  it.effect("a menu that is gone keeps the image of its message, also without a text", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      for (const text of ["Old", null]) {
        const show = Command.make("old").on((update) =>
          Messages.reply(update, {
            text,
            attachments: [
              AttachmentRequest.imageFromUrl("https://example.com/photo.png"),
              Keyboard.make([Keyboard.callback("One", "menu_gone:1")])
            ]
          })
        )
        yield* during(show, ann.send("/old"))
        yield* pressLast(Bot.make() as never, ann, dialog, "One")
        const { body } = yield* last(dialog)
        assert.deepStrictEqual(
          body?.attachments?.map(({ type }) => type),
          ["image"]
        )
      }
    }).pipe(Effect.provide(platform))
  )

  it.effect("a menu that is gone keeps its keyboard if its message has a contact, which would lose data", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const show = Command.make("old").on((update) =>
        Messages.reply(update, {
          text: "Old",
          attachments: [
            { type: "contact", payload: { name: "Ann", contact_id: ann.user_id } },
            Keyboard.make([Keyboard.callback("One", "menu_gone:1")])
          ]
        })
      )
      yield* during(show, ann.send("/old"))
      const before = yield* last(dialog)
      yield* pressLast(Bot.make() as never, ann, dialog, "One")
      assert.deepStrictEqual(yield* last(dialog), before)
      assert.deepStrictEqual(yield* notifications, ["This button is out of date."])
    }).pipe(Effect.provide(platform))
  )

  it.effect.each(["Close", "Finish", "Thanks"])("a message that has only a keyboard is removed by %s", (button) =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const pad = Menu.make("pad", () => ({
        rows: [
          [Menu.close("Close")],
          [Menu.button("finish", "Finish", () => Menu.finish())],
          [Menu.button("thanks", "Thanks", () => Menu.notify("Thank you", Menu.finish()))]
        ]
      }))
      const bot = Handler.first(
        Command.make("pad").on((update) => pad.reply(update)),
        pad
      )
      yield* during(bot, ann.send("/pad"))
      yield* pressLast(bot, ann, dialog, button)
      assert.deepStrictEqual(
        (yield* Emulator.messages(dialog)).map((message) => view(message)),
        [["/pad"]]
      )
      assert.deepStrictEqual(yield* notifications, button === "Thanks" ? ["Thank you"] : [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("a page without a text does not show the text of the page before", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const album = Menu.make(
        "album",
        { pages: { main: Schema.Void, photo: Schema.Void } },
        {
          main: ({ open }) => ({ text: "Album", rows: [[open("Photo", "photo")]] }),
          photo: () => ({
            attachments: [AttachmentRequest.imageFromUrl("https://example.com/photo.png")],
            rows: [[Menu.back("Back")], [Menu.close("Close")]]
          })
        }
      )
      const bot = Handler.first(
        Command.make("album").on((update) => album.reply(update)),
        album
      )
      yield* during(bot, ann.send("/album"))
      const views: Array<unknown> = []
      for (const button of ["Photo", "Back", "Photo", "Close"]) {
        yield* pressLast(bot, ann, dialog, button)
        views.push(yield* lastView(dialog))
      }
      assert.deepStrictEqual(views, [["", "Back", "Close"], ["Album", "Photo"], ["", "Back", "Close"], [""]])
      const { body } = yield* last(dialog)
      assert.deepStrictEqual(
        body?.attachments?.map(({ type }) => type),
        ["image"]
      )
    }).pipe(Effect.provide(platform))
  )

  it.effect("a page without any content is a defect of its menu", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Menu.make("empty", () => ({ rows: [] })).message())
      assert.strictEqual(
        error.message,
        'Cannot show the page "main" of the menu "empty": it has no text, no attachments and no buttons. Give it a text.'
      )
    })
  )

  it.effect("shows its first page if the payload of a button cannot be read", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const show = Command.make("old").on((update) =>
        Messages.reply(update, {
          text: "Old",
          attachments: [
            Keyboard.make([Keyboard.callback("One", "menu_settings:{"), Keyboard.callback("Two", "menu_settings")])
          ]
        })
      )
      for (const button of ["One", "Two"]) {
        yield* during(show, ann.send("/old"))
        yield* pressLast(settingsBot, ann, dialog, button)
        assert.deepStrictEqual(yield* lastView(dialog), ["Settings", "✓ Sound", "✓ English | Русский", "Close"])
      }
      assert.deepStrictEqual(yield* notifications, [outdated, outdated])
    }).pipe(Effect.provide(platform))
  )

  it.effect(
    "handles a press whose message is removed meanwhile, and answers a press of a removed message as outdated",
    () =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const dialog = yield* ann.start()
        yield* during(settingsBot, ann.send("/settings"))
        const shown = yield* last(dialog)
        const remove = Messages.remove({ message_id: shown.body!.mid })
        const bot = Handler.first(
          Handler.filterEffect(settings, () => Effect.as(remove, true)),
          Command.make("check").on((update) =>
            Effect.flatMap(Settings.get, ({ sound }) => Messages.reply(update, `${sound}`))
          )
        )
        // The message is removed after the press, and before it is handled.
        yield* during(bot, ann.press(shown, "✓ Sound"))
        assert.strictEqual(yield* deadLetters, 0)
        yield* during(bot, ann.send("/check"))
        assert.strictEqual((yield* last(dialog)).body?.text, "false")
        yield* during(settingsBot, ann.press(shown, "✓ Sound"))
        assert.deepStrictEqual(yield* notifications, [outdated])
        yield* during(bot, ann.send("/check"))
        assert.strictEqual((yield* last(dialog)).body?.text, "false")
        assert.strictEqual(yield* deadLetters, 0)
      }).pipe(Effect.provide(platform))
  )

  it.effect("carries out the outcome of a press: another page, the page before, another message, or nothing", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const form = Menu.make(
        "form",
        { pages: { main: Schema.Void, step: Schema.Int } },
        {
          main: ({ go }) => ({ text: "Main", rows: [[Menu.button("start", "Start", () => go("step", 1))]] }),
          step: ({ go, params }) => ({
            text: `Step ${params}`,
            rows: [
              [
                Menu.button("next", "Next", () => Effect.succeed(go("step", params + 1))),
                Menu.button("first", "First", () => go("step", 1)),
                Menu.button("back", "Back", () => Menu.notify("Going back", Menu.goBack)),
                Menu.button("done", "Done", () => Menu.finish("Thank you")),
                Menu.button("own", "Own", (update) => Effect.as(Answers.answer(update, "Mine"), Menu.answered)),
                Menu.button("both", "Both", (update) => Effect.as(Answers.answer(update, "Mine too"), go("step", 7)))
              ]
            ]
          })
        }
      )
      const bot = Handler.first(
        Command.make("form").on((update) => form.reply(update)),
        form
      )
      const press = (button: string) =>
        Effect.gen(function* () {
          yield* pressLast(bot, ann, dialog, button)
          return (yield* lastView(dialog))[0]
        })
      yield* during(bot, ann.send("/form"))
      const texts = yield* Effect.forEach(
        ["Start", "Next", "Next", "Back", "Next", "First", "Back", "Start", "Own", "Both", "Done"],
        press
      )
      assert.deepStrictEqual(texts, [
        "Step 1",
        "Step 2",
        "Step 3",
        "Step 2",
        "Step 3",
        "Step 1",
        "Main",
        "Step 1",
        "Step 1",
        "Step 7",
        "Thank you"
      ])
      assert.deepStrictEqual(yield* lastView(dialog), ["Thank you"])
      assert.deepStrictEqual(yield* notifications, ["Going back", "Going back", "Mine", "Mine too"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("handles a press once if its function or its answer fails at first", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      let failures = 2
      const counter = Menu.make("counter", () =>
        Effect.map(Orders.get, (count) => ({
          text: `Orders: ${count}`,
          rows: [
            [
              Menu.button("add", "Add", () =>
                Effect.andThen(
                  Orders.update((count) => count + 1),
                  Effect.suspend(() => (failures-- > 0 ? Effect.fail("not yet") : Effect.void))
                )
              )
            ]
          ]
        }))
      )
      const bot = Handler.first(
        Command.make("count").on((update) => counter.reply(update)),
        counter
      )
      yield* during(bot, ann.send("/count"))
      yield* pressLast(bot, ann, dialog, "Add")
      assert.strictEqual(failures, -1)
      assert.deepStrictEqual(yield* lastView(dialog), ["Orders: 1", "Add"])
      assert.strictEqual(yield* deadLetters, 0)
    }).pipe(Effect.provide(platform))
  )

  it.effect(
    "shows the state in the end if a press is handled again because the state was changed in another chat",
    () =>
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const dialog = yield* ann.start()
        const group = yield* Emulator.chat({ members: [ann], bot: { admin: true } })
        const Total = State.make("total", Schema.Int, { of: "user", initial: () => 0 })
        let runs = 0
        const counter = Menu.make("counter", () =>
          Effect.map(Total.get, (count) => ({
            text: `Total: ${count}`,
            rows: [
              [
                Menu.button("add", "Add", () =>
                  Effect.gen(function* () {
                    runs++
                    yield* Total.update((count) => count + 1)
                  })
                )
              ]
            ]
          }))
        )
        const bot = Handler.first(
          Command.make("count").on((update) => counter.reply(update)),
          // Both presses read the state before one of them is acknowledged.
          Handler.transform(counter, (effect) => Effect.tap(effect, () => Effect.sleep("1 second")))
        )
        yield* during(bot, Effect.andThen(ann.send("/count"), ann.send(group, "/count")))
        yield* during(
          bot,
          Effect.gen(function* () {
            yield* ann.press(yield* last(dialog), "Add")
            yield* ann.press(yield* last(group), "Add")
          })
        )
        assert.strictEqual(runs, 3)
        const views = [yield* lastView(dialog), yield* lastView(group)]
        assert.deepStrictEqual(views.sort(), [
          ["Total: 1", "Add"],
          ["Total: 2", "Add"]
        ])
      }).pipe(Effect.provide(platform))
  )

  it.effect("edits its message if the callback cannot be answered any more", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      yield* during(settingsBot, ann.send("/settings"))
      yield* Emulator.intercept((request, next) =>
        request.path === "/answers"
          ? Effect.succeed(EmulatorHttp.respond(405, { code: "method.not.allowed", message: "too late" }))
          : next
      )
      yield* pressLast(settingsBot, ann, dialog, "✓ Sound")
      assert.deepStrictEqual(yield* lastView(dialog), ["Settings", "Sound", "✓ English | Русский", "Close"])
      assert.strictEqual(yield* deadLetters, 0)
    }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.effect("shows lists that are loaded in parts, rows of several buttons, and an empty list", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const Amounts = State.make("amounts", Schema.Record(Schema.String, Schema.Int), {
        of: "user",
        initial: () => ({})
      })
      const all = titles(5)
      const loads: Array<readonly [number, number]> = []
      const cart = Menu.make("cart", () =>
        Effect.map(Amounts.get, (amounts) => ({
          text: "Cart",
          rows: [
            Menu.list(
              "items",
              {
                total: all.length,
                load: ({ limit, offset }) =>
                  Effect.sync(() => {
                    loads.push([offset, limit])
                    return all.slice(offset, offset + limit)
                  })
              },
              (title, index) => [
                Menu.button(`add ${title}`, `${index}: ${amounts[title] ?? 0}`, () =>
                  Amounts.update((amounts) => ({ ...amounts, [title]: (amounts[title] ?? 0) + 1 }))
                ),
                Keyboard.link("Read", "https://example.org")
              ],
              { perPage: 2, labels: { next: "More", position: (part) => `${part}` } }
            ),
            Menu.list("nothing", [], (text: string) => Keyboard.message(text))
          ]
        }))
      )
      const bot = Handler.first(
        Command.make("cart").on((update) => cart.reply(update)),
        cart
      )
      const press = (button: string) => pressLast(bot, ann, dialog, button)
      yield* during(bot, ann.send("/cart"))
      yield* press("More")
      assert.deepStrictEqual(yield* lastView(dialog), ["Cart", "2: 0 | Read", "3: 0 | Read", "‹ | 2 | More"])
      assert.deepStrictEqual(loads, [
        [0, 2],
        [2, 2]
      ])
      yield* press("3: 0")
      assert.deepStrictEqual(yield* lastView(dialog), ["Cart", "2: 0 | Read", "3: 1 | Read", "‹ | 2 | More"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("chooses several of its choices", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const Toppings = State.make("toppings", Schema.Array(Schema.Literals(["ham", "olives", "cheese"])), {
        of: "userInChat",
        initial: () => []
      })
      const toppings = Menu.make("toppings", { of: "userInChat" }, () =>
        Effect.map(Toppings.get, (chosen) => ({
          text: chosen.join(" "),
          rows: [
            Menu.checkboxes("topping", {
              choices: { ham: "Ham", olives: "Olives", cheese: "Cheese" },
              chosen,
              set: Toppings.set,
              columns: 2,
              marks: ["+", "-"]
            }),
            [Keyboard.link("Help", "https://example.org")]
          ]
        }))
      )
      const bot = Handler.first(
        Command.make("toppings").on((update) => toppings.reply(update)),
        toppings
      )
      yield* during(bot, ann.send("/toppings"))
      for (const button of ["-Cheese", "-Ham", "-Olives", "+Ham"]) {
        yield* pressLast(bot, ann, dialog, button)
      }
      assert.deepStrictEqual(yield* lastView(dialog), ["olives cheese", "-Ham | +Olives", "+Cheese", "Help"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("is sent to a user or a chat, and shown again in a message, by a program that handles no update", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const dialog = yield* ann.start()
      const shop = makeShop(titles(1))
      const sent = yield* shop.send({ user_id: ann.user_id }, "product", { title: "Tea 1" })
      assert.deepStrictEqual(view(sent), ["Tea 1", "Order", "Back"])
      yield* shop.edit(sent.body!.mid)
      assert.deepStrictEqual(yield* lastView(dialog), main("Tea 1"))
      const { attachments, text } = yield* shop.message()
      assert.strictEqual(text, "What would you like?")
      assert.strictEqual(attachments?.length, 1)
      const failed = yield* Effect.flip(settings.send({ chat_id: dialog.chat_id }))
      assert.strictEqual(failed._tag, "NoStateKey")
    }).pipe(Effect.provide(Emulator.layerBot()))
  )
})
