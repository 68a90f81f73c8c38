import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { describe, expectTypeOf, it } from "vitest"
import {
  type BotApi,
  Command,
  type Endpoint,
  Handler,
  Messages,
  Pattern,
  Scene,
  type Timer,
  type Update
} from "../../src/index.ts"

class Broken extends Data.TaggedError("Broken")<{}> {}
class Missing extends Data.TaggedError("Missing")<{}> {}
class Counter extends Context.Service<Counter, { readonly count: number }>()("test/Counter") {}

const broken = Effect.fail(new Broken())
const missing = Counter.use(({ count }) => (count > 0 ? Effect.void : Effect.fail(new Missing())))

const Ride = Scene.make(
  "ride",
  { of: "userInChat", states: { waiting: Schema.Struct({ address: Schema.String }), riding: Schema.Void } },
  {
    waiting: {
      enter: ({ data, update }) => {
        expectTypeOf(data).toEqualTypeOf<{ readonly address: string }>()
        expectTypeOf(update).toEqualTypeOf<Update.Repliable>()
        return Messages.reply(update, data.address)
      },
      handler: ({ end, go, stay }) =>
        Handler.first(
          Pattern.make("in").on(() => go("riding")),
          Command.make("fail").on(() => broken),
          Command.make("move").on(() => stay({ address: "Main Street" })),
          Command.make("other").on(() => Handler.notHandled),
          Command.make("end").on(() => end)
        ),
      timeout: "30 minutes"
    },
    riding: { leave: () => missing }
  }
)

type Errors = Broken | Missing | Messages.NoChat | Endpoint.Errors<typeof Messages.send> | Scene.SceneError

describe("the types of Scene", () => {
  it("contain the errors and the services of all states", () => {
    expectTypeOf<Effect.Error<ReturnType<typeof Ride.go>>>().toEqualTypeOf<Errors>()
    expectTypeOf<Effect.Services<ReturnType<typeof Ride.go>>>().toEqualTypeOf<BotApi.BotApi | Counter>()
    expectTypeOf<Handler.Error<typeof Ride>>().toEqualTypeOf<Errors | Timer.MalformedTimer>()
    expectTypeOf<Handler.Services<typeof Ride>>().toEqualTypeOf<BotApi.BotApi | Counter>()
  })

  it("check the names and the data of states", () => {
    expectTypeOf<Effect.Success<typeof Ride.current>>().toEqualTypeOf<
      Option.Option<
        | { readonly state: "waiting"; readonly data: { readonly address: string } }
        | { readonly state: "riding"; readonly data: void }
      >
    >()
    expectTypeOf<Scene.To<{ a: number; b: void }>>().toEqualTypeOf<
      [state: "a", data: number] | [state: "b", data?: void]
    >()
    void Ride.go("riding")
    // @ts-expect-error the state needs data
    void Ride.go("waiting")
    // @ts-expect-error the state does not exist
    void Ride.go("driving")
    // @ts-expect-error the key needs a user
    void (() => Ride.at({ chat_id: 1 as never }))
    // @ts-expect-error a state has no functions
    void Scene.make("a", { of: "chat", states: { one: Schema.Void, two: Schema.Void } }, { one: {} })
    void Scene.make(
      "a",
      {
        of: "chat",
        states: { one: Schema.Int },
        // @ts-expect-error the state that takes the place does not exist
        onStale: () => ["three", 1]
      },
      { one: {} }
    )
    void Scene.make(
      "a",
      { of: "chat", states: { one: Schema.Int } },
      {
        // @ts-expect-error the state does not exist
        one: { enter: ({ go }) => go("two") }
      }
    )
  })
})
