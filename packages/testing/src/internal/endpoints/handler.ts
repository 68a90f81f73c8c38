import type * as core from "@colloquy/core"
import type * as Endpoint from "@colloquy/core/Endpoint"
import type * as Effect from "effect/Effect"
import type { Call } from "./call.ts"
import type { Refusal } from "../http/refusal.ts"

/** Answers an endpoint from the state of the platform. */
export type Handler<E extends Endpoint.Any> = (
  request: Endpoint.Request<E>,
  call: Call
) => Effect.Effect<Endpoint.Success<E>, Refusal>

/** A handler for each endpoint that a module exports. */
export type Handlers<Module> = {
  readonly [K in keyof Module as Module[K] extends Endpoint.Any ? K : never]: Module[K] extends Endpoint.Any
    ? Handler<Module[K]>
    : never
}

type Core = typeof core

/** A handler for each endpoint there is, by module and by name. One that is missing does not compile. */
export type AllHandlers = {
  readonly [M in keyof Core as {} extends Handlers<Core[M]> ? never : M]: Handlers<Core[M]>
}
