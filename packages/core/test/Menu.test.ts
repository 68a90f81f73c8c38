import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Keyboard, Menu, type MenuPage, Payload, type Update, User } from "../src/index.ts"

const press = () => Effect.void

const button = (name: string, text = name) => Menu.button(name, text, press)

const ofRows = (rows: MenuPage.Content<unknown>["rows"]) => Menu.make("shop", () => ({ text: "Shop", rows }))

const problemOf = (rows: MenuPage.Content<unknown>["rows"]) =>
  Effect.map(Effect.flip(ofRows(rows).message()), (error) => {
    assert.instanceOf(error, Menu.InvalidMenu)
    return error.message
  })

const rowsOf = (count: number, columns = 1) =>
  Array.from({ length: count }, (_, row) => Array.from({ length: columns }, (_, column) => button(`${row} ${column}`)))

describe("Menu", () => {
  it.effect("shows as many rows and buttons as the platform allows, and fails with what to do about more", () =>
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

  it("throws if its name is not the name of a payload", () => {
    assert.throws(
      () => Menu.make("my menu", () => ({ rows: [] })),
      'The menu "my menu" needs a name of letters, digits and _.'
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
      assert.isUndefined(menu.handler(callback(payload)))
    }
    assert.isUndefined(Menu.removed()(callback("vote:1")))
  })
})
