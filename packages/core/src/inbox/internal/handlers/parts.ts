import type { Update } from "../../../model/Update.ts"

/** A part of a bot that is found by its name: in the store, in the payloads of its buttons, or by its timer. */
export interface Part {
  readonly kind: "conversation" | "menu" | "scene" | "timer"
  readonly name: string
  /** Tells two definitions with one name apart. */
  readonly definition: object
  /** The name of the timer of its timeouts. */
  readonly timeouts?: string
}

/**
 * The known parts of a handler, whose updates the handler takes. A function of the user hides the parts of the handlers
 * that the function calls.
 */
const partsOf = new WeakMap<object, ReadonlyArray<Part>>()

const none: ReadonlyArray<Part> = []

export const withParts = <H extends object>(handler: H, parts: ReadonlyArray<Part>): H => {
  if (parts.length > 0) partsOf.set(handler, parts)
  return handler
}

/** A handler that wraps another handler has the same parts. */
export const withPartsOf = <H extends object>(handler: H, of: object): H => withParts(handler, partsOf.get(of) ?? none)

/** Returns the parts of several handlers of one bot. Throws if two parts have the same name. */
export const partsOfAll = (handlers: ReadonlyArray<object>): ReadonlyArray<Part> => {
  const parts = new Map<string, Part>()
  for (const part of handlers.flatMap((handler) => partsOf.get(handler) ?? none)) {
    const id = `${part.kind} ${part.name}`
    const other = parts.get(id)
    if (other !== undefined && other.definition !== part.definition) {
      throw new Error(
        `Two ${part.kind}s of the bot have the name "${part.name}", so that one would take the updates of the other. Give each ` +
          `${part.kind} a name of its own. If it is one ${part.kind}, define it once, outside of the functions that use it.`
      )
    }
    parts.set(id, part)
  }
  return [...parts.values()]
}

const never = (): boolean => false

/**
 * Returns whether an update is the end of a time limit of a part of a handler. No user has caused such an update, so
 * filters of chats and users do not concern the update.
 */
export const isTimeoutOf = (handler: object): ((update: unknown) => boolean) => {
  const names = new Set((partsOf.get(handler) ?? none).flatMap(({ timeouts }) => timeouts ?? []))
  if (names.size === 0) return never
  return (update) => {
    const { name, update_type } = update as Partial<Update & { readonly name: string }>
    return update_type === "colloquy_timer" && names.has(name!)
  }
}
