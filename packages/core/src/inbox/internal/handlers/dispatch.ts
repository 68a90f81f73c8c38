import * as Effect from "effect/Effect"
import { parse } from "../../../model/internal/text/command.ts"
import { textOf, type Update } from "../../../model/Update.ts"
import type { NotHandled, Part, Return } from "../../Handler.ts"
import { recordPart } from "../log/attemptRecord.ts"
import { isNotHandledCause, notHandled } from "./notHandled.ts"

/** The prefixes of the payloads of buttons of menus and of conversations, before the name. */
export const payloadPrefix = { menu: "menu_", conversation: "conversation/" } as const

/** Returns the beginnings of a payload that can name a menu or a conversation. Names of conversations can contain colons. */
const namesIn = (payload: string): ReadonlyArray<string> => {
  if (payload.startsWith(payloadPrefix.menu)) return /^\w+(?=:|$)/.exec(payload) ?? []
  if (!payload.startsWith(payloadPrefix.conversation)) return []
  return [...payload.matchAll(/:\[/g)].map(({ index }) => payload.slice(0, index))
}

type Parts = ReadonlyArray<Part>

const byName = (parts: Parts, nameOf: (part: Part) => string | undefined, rest: Parts): ReadonlyMap<string, Parts> => {
  const names = new Set(parts.flatMap((part) => nameOf(part) ?? []))
  return new Map([...names].map((name) => [name, [...parts.filter((part) => nameOf(part) === name), ...rest]]))
}

const buttonOf = ({ kind, name }: Part): string | undefined =>
  kind === "menu" || kind === "conversation" ? payloadPrefix[kind] + name : undefined

/**
 * Returns a function that selects the parts that an update can be for, in the order in which the parts are asked: the part
 * that has made a button or a timer, commands, conversations and scenes that are open, and everything else.
 */
const makeSelection = (parts: Parts): ((update: Update) => Parts) => {
  const of = (...kinds: ReadonlyArray<Part["kind"]>) => parts.filter(({ kind }) => kinds.includes(kind))
  const rest = [...of("conversation", "scene"), ...of("handler", "button", "link")]
  const gone = [...of("outdated"), ...rest]
  const timers = byName(parts, ({ timer }) => timer, rest)
  const buttons = byName(parts, buttonOf, rest)
  const commands = byName(of("command"), ({ name }) => name, rest)
  return (update) => {
    switch (update?.update_type) {
      case "colloquy_timer":
        return timers.get(update.name) ?? gone
      case "message_callback": {
        const names = namesIn(update.callback.payload ?? "")
        const name = names.find((name) => buttons.has(name))
        return name === undefined ? (names.length === 0 ? rest : gone) : buttons.get(name)!
      }
    }
    const text = commands.size === 0 ? undefined : textOf(update)
    return (text?.startsWith("/") && commands.get(parse(text)?.name ?? "")) || rest
  }
}

/** Returns the function that handles an update by the first of several parts that takes the update. */
export const makeDispatch = (parts: Parts): ((update: Update) => Return) => {
  const select = parts.every(({ kind }) => kind === "handler") ? () => parts : makeSelection(parts)
  const tryFrom = (selected: Parts, start: number, update: Update): Return<unknown, unknown> => {
    for (let index = start; index < selected.length; index++) {
      const part = selected[index]!
      const effect = recordPart(part, part.handle(update)) as Return<unknown | NotHandled, unknown>
      if (effect === undefined) continue
      return index === selected.length - 1
        ? effect
        : Effect.catchCauseIf(effect, isNotHandledCause, () => tryFrom(selected, index + 1, update) ?? notHandled)
    }
    return undefined
  }
  return (update) => tryFrom(select(update), 0, update)
}
