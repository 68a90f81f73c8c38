import * as Context from "effect/Context"

/** The `timeout` of the handler that runs, in milliseconds. Default: none, outside of handling. */
export const CurrentTimeout = Context.Reference<number>("@colloquy/core/Handler/CurrentTimeout", {
  defaultValue: () => Number.POSITIVE_INFINITY
})
