import type { Update } from "../../../model/Update.ts"
import type { Handler, Part, Started } from "../../Handler.ts"
import { recordPart } from "../log/attemptRecord.ts"
import { makeDispatch } from "./dispatch.ts"

/** The functions of which parts are made. */
type AnyHandler = Handler<unknown, unknown, never>

/** Returns the parts of a handler. A function that names none is one part. */
export const partsOf = (handler: AnyHandler): ReadonlyArray<Part> =>
  handler.parts ?? [{ kind: "handler", name: handler.name || "function", handle: handler as Part["handle"] }]

/** Kinds of which a bot keeps data by the name, so that one name never has two meanings. */
const isStored = ({ kind }: Part): boolean =>
  kind === "conversation" || kind === "menu" || kind === "scene" || kind === "timer"

const canMeet = (one: Part, other: Part): boolean => {
  if (isStored(one)) return true
  if (one.isConditional === true || other.isConditional === true) return false
  return one.types === undefined || one.types.some((type) => other.types?.includes(type) ?? true)
}

/** Throws if two different parts have the same kind and name. */
const checkNames = (parts: ReadonlyArray<Part>): void => {
  const known = new Map<string, Array<Part>>()
  for (const part of parts) {
    if (part.definition === undefined) continue
    const { kind, name } = part
    const others = known.get(`${kind} ${name}`) ?? []
    if (others.some((other) => other.definition !== part.definition && canMeet(other, part))) {
      throw new Error(
        `Two ${kind}s of the bot have the name "${name}", so that one would take the updates of the other. Give each ` +
          `${kind} a name of its own. If it is one ${kind}, define it once, outside of the functions that use it.`
      )
    }
    known.set(`${kind} ${name}`, [...others, part])
  }
}

/** Returns the handler of several parts, which finds the parts of an update by the data of the update. */
export const makeGroup = <E, R, U>(parts: ReadonlyArray<Part>): Handler<E, R, U> => {
  checkNames(parts)
  const [first] = parts
  // A single part declines other updates by itself.
  const handle =
    first === undefined || parts.length > 1
      ? makeDispatch(parts)
      : (update: Update) => recordPart(first, first.handle(update))
  return Object.assign((update: U) => handle(update as Update), { parts }) as Handler<E, R, U>
}

/** Returns the handler whose parts are made of the parts of another handler. */
export const mapParts = <E, R, U>(
  handler: AnyHandler,
  f: (part: Part) => Part["handle"],
  more?: Partial<Part>
): Handler<E, R, U> => makeGroup(partsOf(handler).map((part) => ({ ...part, ...more, handle: f(part) })))

/** A function that takes updates, with the description of the part that the function is, and the members of its module. */
export const makePart = <M extends object, H = Handler<unknown, unknown>>(
  part: Part,
  members?: M
): H & M & { readonly parts: ReadonlyArray<Part> } => {
  const handler: unknown = Object.assign((update: Update) => part.handle(update), { parts: [part] })
  // The name of a function cannot be assigned.
  return Object.defineProperties(
    handler as H & M & { readonly parts: ReadonlyArray<Part> },
    Object.getOwnPropertyDescriptors(members ?? {})
  )
}

/**
 * Returns whether an update is the end of a time limit of a part. No user has caused such an update, so filters of chats
 * and users do not concern the update.
 */
export const isTimeoutOf = ({ kind, timer }: Part, update: unknown): boolean => {
  if (timer === undefined || kind === "timer") return false
  const { name, update_type } = update as Partial<Update & { readonly name: string }>
  return update_type === "colloquy_timer" && name === timer
}

/** Returns the conversation that a function starts. Throws if the function is a part with a name, which starts nothing. */
export const startedBy = (handler: (...args: never) => unknown, what: string): Started | undefined => {
  const { parts, starts } = handler as AnyHandler
  const named = parts?.find(isStored)
  if (named === undefined) return starts
  throw new Error(
    `The handler of ${what} is the ${named.kind} "${named.name}" itself, which handles later updates. Pass a function that begins ` +
      `the ${named.kind}, and place the ${named.kind} beside the handler.`
  )
}
