import type { MarkupElement } from "@colloquy/core/model/Markup"
import { midOf } from "./chatLog.ts"
import { nest } from "./parts/spans.ts"
import type { TrailEvent } from "./trail.ts"
import type { Attachment, ChatView, EventOf, Message, PersonView } from "./types.ts"

/** A conversation to write a test of. */
export interface Conversation {
  readonly title: string
  /** The module that exports the bot. */
  readonly module: string
  readonly view: ChatView
  readonly people: ReadonlyArray<PersonView>
  readonly events: ReadonlyArray<TrailEvent>
}

const quote = (text: string): string =>
  JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")

/** A JavaScript literal with unquoted keys. */
const literal = (value: unknown): string => {
  if (typeof value === "string") return quote(value)
  if (typeof value === "bigint") return `${value}n`
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`
  if (typeof value !== "object" || value === null) return String(value)
  const fields = Object.entries(value).filter(([, each]) => each !== undefined)
  const key = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : quote(name))
  return `{ ${fields.map(([name, each]) => `${key(name)}: ${literal(each)}`).join(", ")} }`
}

const tags: Readonly<Record<string, string>> = {
  strong: "b",
  emphasized: "i",
  strikethrough: "s",
  underline: "u",
  monospaced: "code",
  highlighted: "mark",
  quote: "blockquote",
  heading: "h1"
}

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const toHtml = (text: string, markup: ReadonlyArray<MarkupElement>): string =>
  nest(text, markup, escape, (element, _, children) => {
    if (element.type === "link") return `<a href="${escape(element.url ?? "")}">${children.join("")}</a>`
    const tag = tags[element.type]
    return tag === undefined ? children.join("") : `<${tag}>${children.join("")}</${tag}>`
  }).join("")

/** An attachment in the form that a person of the emulator sends. */
const toSent = (attachment: Attachment): unknown => {
  const { type } = attachment
  if (type === "image" || type === "video" || type === "audio") return { type }
  if (type === "file") return { type, filename: attachment.filename, size: attachment.size }
  return type === "contact" ? { type, payload: { vcf_info: attachment.payload?.vcf_info } } : attachment
}

/** Names that a person cannot have in a test. */
const reserved = ["bot", "chat", "it", "assert", "platform", "new", "in", "do", "if"]

/** The unique button of this text, or the place. */
const buttonRef = (message: Message | undefined, [row, column]: readonly [number, number]): string => {
  const rows = (message?.body?.attachments ?? []).flatMap((each) =>
    each.type === "inline_keyboard" ? (each.payload?.buttons ?? []) : []
  )
  const texts = rows.map((each) => each.map((button) => ("text" in button ? String(button.text) : undefined)))
  const text = texts[row]?.[column]
  const isUnique = texts.flat().filter((each) => each === text).length === 1
  return text !== undefined && isUnique ? quote(text) : `[${row}, ${column}]`
}

/** Pause after the previous event from which an action of a bot is attributed to a timer, in milliseconds. */
const timerDelay = 1500

/** Pause from which an action of a bot is attributed to a wait by the clock, in milliseconds. */
const botDelay = 100

/** Writes the lines of a test. */
class Writer {
  readonly lines: Array<string> = []
  readonly #conversation: Conversation
  readonly #names = new Map<number, string>()
  /** The variables of messages, by their ids. */
  readonly #variables = new Map<string, string>()
  readonly #messages = new Map<string, Message>()
  readonly #referenced: ReadonlySet<string>
  #count = 0
  #lastAt: number | undefined
  readonly #hasTimers: boolean

  constructor(conversation: Conversation) {
    this.#conversation = conversation
    const { events } = conversation
    this.#referenced = new Set(
      events.flatMap((event) => {
        if (event.type === "press" || event.type === "removed") return [event.message_id]
        if (event.type === "edited") return [midOf(event.message)]
        if (event.type === "comment") return [event.comment.recipient.post_id ?? ""]
        return event.type === "message" ? [event.message.link?.message?.mid ?? ""] : []
      })
    )
    this.#hasTimers = events.some(
      (event, index) => index > 0 && this.#isOfBot(event) && event.at - events[index - 1].at >= timerDelay
    )
  }

  #isOfBot(event: TrailEvent): boolean {
    const { people, view } = this.#conversation
    if (event.type === "answer") return true
    if (!("user_id" in event) || event.user_id === undefined) return false
    const { user_id } = event
    const member = view.members.find((each) => each.user_id === user_id)
    return member?.is_bot ?? !people.some(({ user }) => user.user_id === user_id)
  }

  /** The people of the conversation as variables, in the order in which they act. */
  writePeople(): void {
    const { events, people, view } = this.#conversation
    const acting = events.flatMap((event) => ("user_id" in event && event.user_id !== undefined ? [event.user_id] : []))
    const members = view.members.map(({ user_id }) => user_id as number)
    for (const user_id of new Set([...acting, ...members])) {
      const person = people.find(({ user }) => user.user_id === user_id)
      if (person === undefined) continue
      const { first_name, last_name, username } = person.user
      const more = { last_name: last_name ?? undefined, username: username ?? undefined, locale: person.locale }
      const isPlain = Object.values(more).every((each) => each === undefined)
      const letters = first_name.toLowerCase().replaceAll(/[^a-z]/g, "")
      const taken = [...reserved, ...this.#names.values()]
      const name = letters.length < 2 || taken.includes(letters) ? `person${this.#names.size + 1}` : letters
      this.#names.set(user_id, name)
      const options = isPlain ? quote(first_name) : literal({ first_name, ...more })
      this.lines.push(`const ${name} = yield* Emulator.user(${options})`)
    }
    if (view.chat.type !== "dialog") this.#writeChat()
  }

  #writeChat(): void {
    const { events, view } = this.#conversation
    const { members } = view
    const bot = members.find(({ is_bot }) => is_bot)
    const who = (change: "added" | "removed") =>
      events.flatMap((event) => (event.type === "member" && event.change === change ? [event.user_id] : []))
    const joined = new Set(who("added"))
    const initial = [...members.map(({ user_id }) => user_id), ...who("removed")].filter((id) => !joined.has(id))
    const owner = this.#names.get(members.find(({ is_owner }) => is_owner)?.user_id ?? 0)
    const names = initial.flatMap((id) => this.#names.get(id) ?? []).filter((name) => name !== owner)
    const role = bot?.is_admin === true ? `{ permissions: ${literal(bot.permissions ?? [])} }` : "{}"
    const options = [
      `type: ${quote(view.chat.type)}`,
      `title: ${quote(view.chat.title ?? "Chat")}`,
      ...(owner === undefined ? [] : [`owner: ${owner}`]),
      `members: [${[...new Set(names)].join(", ")}]`,
      `bot: ${role}`
    ]
    this.lines.push(`const chat = yield* Emulator.chat({ ${options.join(", ")} })`)
  }

  /** The person who sees the actions of the bot. */
  get #observer(): string {
    return [...this.#names.values()][0] ?? "person"
  }

  #pass(event: TrailEvent): void {
    const gap = this.#lastAt === undefined ? 0 : event.at - this.#lastAt
    this.#lastAt = event.at
    const isLong = this.#isOfBot(event) ? gap >= botDelay : this.#hasTimers && gap >= 1000
    if (isLong) this.lines.push(`yield* TestClock.adjust(${gap})`)
  }

  #variable(mid: string, prefix: string): string {
    const name = `${prefix}${++this.#count}`
    this.#variables.set(mid, name)
    return name
  }

  #sent(event: EventOf<"message">): void {
    const { body, link } = event.message
    const mid = midOf(event.message)
    const name = this.#names.get(event.user_id)
    if (name === undefined) return
    const markup = body?.markup ?? []
    const text = markup.length === 0 ? (body?.text ?? "") : toHtml(body?.text ?? "", markup)
    const attachments = (body?.attachments ?? []).map((each) => literal(toSent(each)))
    const linked = this.#variables.get(link?.message?.mid ?? "")
    const options = [
      ...(markup.length === 0 ? [] : [`format: "html"`]),
      ...(attachments.length === 0 ? [] : [`attachments: [${attachments.join(", ")}]`]),
      ...(linked === undefined ? [] : [`link: { type: ${quote(link!.type)}, mid: ${linked}.body!.mid }`])
    ]
    const where = this.#conversation.view.chat.type === "dialog" ? "" : "chat, "
    const call = `yield* ${name}.send(${where}${quote(text)}${options.length === 0 ? "" : `, { ${options.join(", ")} }`})`
    this.lines.push(this.#referenced.has(mid) ? `const ${this.#variable(mid, "sent")} = ${call}` : call)
  }

  #received(message: Message): void {
    const name = this.#variable(midOf(message), "reply")
    this.lines.push(`const ${name} = yield* ${this.#observer}.reply`)
    this.#expect(name, message)
  }

  #expect(name: string, { body }: Message): void {
    if (body?.text) this.lines.push(`assert.strictEqual(${name}.body?.text, ${quote(body.text)})`)
    const types = (body?.attachments ?? []).map(({ type }) => type)
    if (types.length === 0) return
    this.lines.push(`assert.deepStrictEqual(${name}.body?.attachments?.map(({ type }) => type), ${literal(types)})`)
  }

  #edited(event: EventOf<"edited">): void {
    const text = quote(event.message.body?.text ?? "")
    if (this.#names.has(event.user_id)) return this.#doesTo(event, midOf(event.message), "edit", text)
    const edited = `edited${++this.#count}`
    this.lines.push(`const ${edited} = yield* ${this.#observer}.next("Edited")`)
    this.#expect(`${edited}.message`, event.message)
  }

  /** An action of a person of the conversation. */
  #does(user_id: number | undefined, call: string): void {
    const name = this.#names.get(user_id ?? 0)
    if (name !== undefined) this.lines.push(`yield* ${name}.${call}`)
  }

  /** An action of a person on a message that a variable holds. */
  #doesTo(
    { user_id }: { readonly user_id: number },
    mid: string | null | undefined,
    action: string,
    ...more: Array<string>
  ): void {
    const message = this.#variables.get(mid ?? "")
    if (message !== undefined) this.#does(user_id, `${action}(${[message, ...more].join(", ")})`)
  }

  #chatChanged(event: EventOf<"chat">, next: TrailEvent | undefined): void {
    const { change, payload, user_id } = event
    // The first message starts the dialog by itself.
    const isImplicit = next?.type === "message" && next.user_id === user_id && next.at === event.at
    if (change === "started" && !isImplicit)
      this.#does(user_id, `start(${payload === undefined ? "" : quote(payload)})`)
    else if (change === "stopped") this.#does(user_id, "stop")
    else if (change === "cleared") this.#does(user_id, "clearDialog")
    else if (change === "title")
      this.#does(user_id, `rename(chat, ${quote(this.#conversation.view.chat.title ?? "Chat")})`)
  }

  #memberChanged({ by, change, user_id }: EventOf<"member">): void {
    const name = this.#names.get(user_id)
    if (name === undefined || change === "rights") return
    if (by === undefined) this.#does(user_id, `${change === "added" ? "join" : "leave"}(chat)`)
    else this.#does(by, `${change === "added" ? "addMember" : "removeMember"}(chat, ${name})`)
  }

  write(event: TrailEvent, previous: TrailEvent | undefined, next: TrailEvent | undefined): void {
    this.#pass(event)
    if (event.type === "message" || event.type === "edited") this.#messages.set(midOf(event.message), event.message)
    const isOfBot = this.#isOfBot(event)
    switch (event.type) {
      case "message": {
        const isByButton = previous?.type === "press" && previous.callback_id === undefined
        if (isOfBot) this.#received(event.message)
        else if (!isByButton) this.#sent(event)
        return
      }
      case "edited":
        return this.#edited(event)
      case "removed":
        if (isOfBot) this.lines.push(`yield* ${this.#observer}.next("Removed")`)
        else this.#doesTo(event, event.message_id, "remove")
        return
      case "comment":
        if (isOfBot) this.lines.push(`yield* ${this.#observer}.next("Comment")`)
        else this.#doesTo(event, event.comment.recipient.post_id, "comment", quote(event.comment.body.text ?? ""))
        return
      case "press":
        this.#doesTo(event, event.message_id, "press", buttonRef(this.#messages.get(event.message_id), event.button))
        return
      case "answer": {
        const name = this.#names.get(event.user_id)
        if (event.notification !== undefined && name !== undefined)
          this.lines.push(`assert.strictEqual(yield* ${name}.notification, ${quote(event.notification)})`)
        return
      }
      case "chat":
        return this.#chatChanged(event, next)
      case "member":
        return this.#memberChanged(event)
      default:
    }
  }
}

/** A test that repeats the conversation on the emulator, and expects the same of the bot. */
export const testOf = (conversation: Conversation): string => {
  const writer = new Writer(conversation)
  const { events, module, title, view } = conversation
  writer.writePeople()
  const own = events.filter(({ type }) => type !== "clock")
  for (const [index, event] of own.entries()) writer.write(event, own[index - 1], own[index + 1])
  const usesClock = writer.lines.some((line) => line.includes("TestClock"))
  const bot = view.members.find(({ is_bot }) => is_bot)?.first_name
  const options = bot === undefined || bot === "Bot" ? "" : `{ botName: ${quote(bot)} }`
  return `import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
${usesClock ? `import { TestClock } from "effect/testing"\n` : ""}import { bot } from ${quote(module)}

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot(${options})))

it.effect(${quote(title)}, () =>
  Effect.gen(function* () {
${writer.lines.map((line) => `    ${line}`).join("\n")}
  }).pipe(Effect.raceFirst(Effect.andThen(bot, Effect.never)), Effect.provide(platform))
)
`
}
