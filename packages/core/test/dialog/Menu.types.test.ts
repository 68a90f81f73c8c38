import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe, expectTypeOf, it } from "vitest"
import type { State } from "../../src/index.ts"
import {
  type Answers,
  type BotApi,
  type Endpoint,
  Handler,
  Keyboard,
  Menu,
  type Messages,
  type Payload,
  type StoreError
} from "../../src/index.ts"

class Broken extends Data.TaggedError("Broken")<{}> {}
class Missing extends Data.TaggedError("Missing")<{}> {}
class Counter extends Context.Service<Counter, { readonly count: number }>()("test/Counter") {}
class Flags extends Context.Service<Flags, { readonly isOpen: boolean }>()("test/Flags") {}

const broken = Effect.fail(new Broken())
const missing = Counter.use(({ count }) => (count > 0 ? Effect.void : Effect.fail(new Missing())))
const flags = Flags.use(({ isOpen }) => Effect.succeed(isOpen))

type MenuErrors =
  | Menu.InvalidMenu
  | Payload.InvalidPayload
  | Endpoint.Errors<typeof Answers.send>
  | Endpoint.Errors<typeof Messages.edit>

describe("the types of Menu", () => {
  it("contain the errors and the services of the pages, their buttons and their lists", () => {
    const menu = Menu.make("menu", () =>
      Effect.map(flags, (isOpen) => ({
        text: "Menu",
        rows: [
          [Menu.button("broken", "Broken", () => broken), Keyboard.link("Read", "https://example.org")],
          Menu.list("loaded", { total: 1, load: () => Effect.fail("no items" as const) }, () => Menu.back("Back")),
          Menu.list("items", [1, 2], (item) => Menu.toggle(`${item}`, "Toggle", isOpen, () => missing))
        ]
      }))
    )
    expectTypeOf<Effect.Error<ReturnType<typeof menu.message>>>().toEqualTypeOf<
      "no items" | Menu.InvalidMenu | Payload.InvalidPayload
    >()
    expectTypeOf<Handler.Error<typeof menu>>().toEqualTypeOf<"no items" | Broken | Missing | MenuErrors>()
    expectTypeOf<Handler.Services<typeof menu>>().toEqualTypeOf<Counter | Flags | BotApi.BotApi>()
  })

  it("contain the errors of pages that are functions without an effect, and of several pages", () => {
    const menu = Menu.make(
      "menu",
      { pages: { main: Schema.Void, item: Schema.Struct({ id: Schema.Int }) }, onOutdated: () => flags },
      {
        main: () => ({ rows: [Menu.radio("a", { choices: { x: "X" }, chosen: "x", set: () => missing })] }),
        item: ({ params }) => {
          expectTypeOf(params).toEqualTypeOf<{ readonly id: number }>()
          return Effect.as(broken, { rows: [[Menu.back("Back")]] })
        }
      }
    )
    expectTypeOf<Handler.Error<typeof menu>>().toEqualTypeOf<Broken | Missing | MenuErrors>()
    expectTypeOf<Handler.Services<typeof menu>>().toEqualTypeOf<Counter | Flags | BotApi.BotApi>()
    void menu.message()
    void menu.message("main")
    void menu.message("item", { id: 1 })
    // @ts-expect-error the page has parameters
    void menu.message("item")
    // @ts-expect-error the page does not exist
    void menu.message("other")
    // @ts-expect-error the parameters have another type
    void menu.message("item", { id: "1" })
  })

  it("leave out the page only if `main` has no parameters", () => {
    const menu = Menu.make(
      "menu",
      { pages: { main: Schema.Int } },
      { main: ({ params }) => ({ text: `${params}`, rows: [] }) }
    )
    expectTypeOf(menu.message).parameters.toEqualTypeOf<[page: "main", params: number]>()
    // @ts-expect-error the page has parameters
    void menu.message()
  })

  it("check the pages that buttons and outcomes open, and the choices of blocks", () => {
    Menu.make(
      "menu",
      { pages: { main: Schema.Void, item: Schema.Int } },
      {
        main: ({ go, open }) => {
          open("Item", "item", 1)
          // @ts-expect-error the page does not exist
          open("Item", "items", 1)
          // @ts-expect-error the page has parameters
          go("item")
          Menu.checkboxes("a", {
            choices: { x: "X", y: "Y" },
            chosen: ["x"],
            set: (chosen) => {
              expectTypeOf(chosen).toEqualTypeOf<ReadonlyArray<"x" | "y">>()
              return undefined
            }
          })
          // @ts-expect-error the choice does not exist
          Menu.radio("a", { choices: { x: "X" }, chosen: "z", set: () => undefined })
          return { rows: [] }
        },
        item: () => ({ rows: [] })
      }
    )
    // @ts-expect-error a page is missing
    Menu.make("menu", { pages: { main: Schema.Void, item: Schema.Int } }, { main: () => ({ rows: [] }) })
    // @ts-expect-error a page has no rows
    Menu.make("menu", () => ({ text: "Menu" }))
  })

  it("contain the errors of buttons that count once, and leave out NotHandled", () => {
    expectTypeOf(Menu.once(Menu.button("a", "A", () => broken))).toEqualTypeOf<
      Menu.Button<Broken | State.NoStateKey | State.StaleState | State.InvalidState | StoreError.StoreError>
    >()
    expectTypeOf(Menu.button("a", "A", () => Handler.notHandled)).toEqualTypeOf<Menu.Button>()
    expectTypeOf(Menu.button("a", "A", () => Menu.goBack)).toEqualTypeOf<Menu.Button>()
  })
})
