import * as Effect from "effect/Effect"

type AnyEffect = Effect.Effect<unknown, unknown>

/** A call of an operation of a service, which the effect carries out. */
export type RemoteCall = (method: string, args: ReadonlyArray<unknown>, effect: AnyEffect) => AnyEffect

/** Returns a service whose operations, the methods that return effects and the effects, are made by calls. */
export const remoteOf = <Shape extends object>(service: Shape, call: RemoteCall): Shape =>
  new Proxy(service, {
    get: (shape, key) => {
      const member: unknown = Reflect.get(shape, key)
      if (typeof key === "symbol") return member
      if (Effect.isEffect(member)) return call(key, [], member as AnyEffect)
      if (typeof member !== "function") return member
      return (...args: ReadonlyArray<unknown>) => {
        const result: unknown = Reflect.apply(member, shape, args)
        return Effect.isEffect(result) ? call(key, args, result as AnyEffect) : result
      }
    }
  })
