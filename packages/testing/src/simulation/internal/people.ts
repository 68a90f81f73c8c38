/** People who use the buttons and the questions of the bot, and act at random. */
import type { Message } from "@colloquy/core/model/Message"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Effect from "effect/Effect"
import type { Emulator } from "../../emulator/Emulator.ts"
import { rowsOf } from "../../emulator/internal/people/buttons.ts"
import type { Person, PersonAttachment } from "../../emulator/Person.ts"
import type { Dice } from "./world/dice.ts"

type Platform = Emulator["Service"]

/** Who acts, where, and by which dice. The commands and the texts are known before the bot shows them. */
export interface Actor {
  /** The names of the commands, without slashes. */
  readonly commands: ReadonlyArray<string>
  /** Texts that the author expects. */
  readonly texts: ReadonlyArray<string>
  readonly person: Person
  readonly platform: Platform
  readonly dice: Dice
  readonly habits: ReturnType<typeof habitsOf>
  /** The group chat with the bot that the person is in. */
  readonly group: ChatId | undefined
  /** Whether the person may act once more. */
  readonly mayAct: () => boolean
}

/** How often people do something, which differs from seed to seed. */
export const habitsOf = (dice: Dice) => ({
  /** The probability of a second press. */
  twice: dice.pick([0.1, 0.3, 0.6]),
  /** The probability that an old button is pressed. */
  old: dice.pick([0.02, 0.1, 0.4]),
  /** The probability of texts that nobody expects. */
  nonsense: dice.pick([0.05, 0.15, 0.5]),
  /** The longest pause between two actions, in milliseconds. */
  pause: dice.pick([2000, 20_000, 20_000, 90_000]),
  /** How many visits each person pays in a day. */
  visits: dice.pick([0.2, 0.5, 0.5])
})

const answers = "yes, no, 1, 2, 42, Ann, Long Lane 7, tomorrow, 12:30, 2027-01-31, ann@example.com".split(", ")

const nonsense = [
  "0",
  "-1",
  "1e9",
  "99999999999999999999",
  "",
  " ",
  "?",
  "🙂",
  "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ‮ text",
  "'; DROP TABLE orders; --",
  "<b>bold</b> **bold** [link](https://example.com)",
  "/",
  "/unknown",
  "cancel",
  "word ".repeat(700)
]

const attachments: ReadonlyArray<PersonAttachment> = [
  { type: "image" },
  { type: "video" },
  { type: "audio" },
  { type: "file", filename: "list.txt", content: new TextEncoder().encode("one\ntwo\n") },
  { type: "location", latitude: 52.52, longitude: 13.405 }
]

/** A text that the bot has given as an example, such as "such as Long Lane 7" or a quotation. */
const examplesIn = (text: string): ReadonlyArray<string> =>
  [
    ...text.matchAll(
      /(?:such as|for example|e\.g\.)[:,]? ([^.,;\n]{1,60})|[`"“«]([^`"”»\n]{1,60})[`"”»]|(\/\w+(?: \w+)?)/gi
    )
  ].map(([, example, quoted, command]) => (example ?? quoted ?? command).trim())

const textFor = ({ commands, dice, habits, texts }: Actor, shown: Message | undefined): string => {
  if (dice.chance(habits.nonsense)) return dice.pick(nonsense)
  const examples = examplesIn(shown?.body?.text ?? "")
  return dice.weighted<() => string>([
    [commands.length === 0 ? 0 : 3, () => `/${dice.pick(commands)}${dice.chance(0.3) ? ` ${dice.pick(answers)}` : ""}`],
    [texts.length === 0 ? 0 : 4, () => dice.pick(texts)],
    [examples.length === 0 ? 0 : 3, () => dice.pick(examples)],
    [2, () => dice.pick(answers)]
  ])()
}

const isPressable = ({ type }: { readonly type: string }): boolean =>
  ["callback", "message", "request_contact", "request_geo_location"].includes(type)

type Place = readonly [row: number, column: number]

const placesOf = (message: Message): ReadonlyArray<Place> =>
  rowsOf(message).flatMap((row, y) =>
    row.flatMap((button, x): ReadonlyArray<Place> => (isPressable(button) ? [[y, x]] : []))
  )

/** An attempt of an action. The attempt fails if the message is gone. */
type Attempt = Effect.Effect<unknown, unknown>

const pause = ({ dice, habits }: Actor): Effect.Effect<void> =>
  Effect.suspend(() => Effect.sleep(dice.chance(0.2) ? dice.int(300) : 300 + dice.int(habits.pause)))

const pressOne = (actor: Actor, withButtons: ReadonlyArray<Message>): Attempt => {
  const { dice, habits, person } = actor
  const message = dice.chance(habits.old) ? dice.pick(withButtons) : withButtons[withButtons.length - 1]
  const place = dice.pick(placesOf(message))
  const press = person.press(message, place)
  if (!dice.chance(habits.twice)) return press
  const second = dice.chance(0.5) ? press : Effect.delay(press, dice.int(2000))
  return Effect.all([press, second], { concurrency: "unbounded" })
}

/** Presses the newest buttons of two chats at the same time. */
const pressInBoth = (actor: Actor, other: ReadonlyArray<Message>, withButtons: ReadonlyArray<Message>): Attempt =>
  Effect.all([pressOne(actor, withButtons), pressOne(actor, other)], { concurrency: "unbounded" })

const blockAndReturn = (actor: Actor): Attempt => {
  const { dice, person } = actor
  const leave = dice.chance(0.7) ? person.stop : person.removeDialog
  return Effect.andThen(leave, Effect.andThen(Effect.sleep(dice.int(600_000)), person.start()))
}

const changeOwnMessage = ({ dice, person }: Actor, own: ReadonlyArray<Message>): Attempt => {
  const message = own[own.length - 1]
  return dice.chance(0.6) ? person.edit(message, dice.pick(answers)) : person.remove(message)
}

const moveInGroup = ({ dice, group, person }: Actor): Attempt =>
  group === undefined
    ? Effect.void
    : Effect.andThen(person.leave(group), Effect.andThen(Effect.sleep(dice.int(600_000)), person.join(group)))

const shownIn = ({ platform }: Actor, chat: ChatId): Effect.Effect<ReadonlyArray<Message>> =>
  Effect.map(platform.messages(chat), (messages) => messages.slice(-30))

const withButtonsIn = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> =>
  messages.filter((message) => placesOf(message).length > 0)

/** One action in a chat, chosen by the messages that the person sees there. */
const act = (actor: Actor, dialog: ChatId, chat: ChatId): Attempt =>
  Effect.gen(function* () {
    const { dice, group, person } = actor
    const shown = yield* shownIn(actor, chat)
    const withButtons = withButtonsIn(shown)
    const elsewhere = group === undefined ? [] : withButtonsIn(yield* shownIn(actor, chat === group ? dialog : group))
    const own = shown.filter(({ sender }) => sender?.user_id === person.user_id)
    const last = shown.findLast(({ sender }) => sender?.is_bot === true)
    const isAsked = last !== undefined && placesOf(last).length > 0
    const write = () => person.send(chat, textFor(actor, last) || "...")
    return yield* dice.weighted<() => Attempt>([
      [withButtons.length === 0 ? 0 : isAsked ? 60 : 15, () => pressOne(actor, withButtons)],
      [withButtons.length === 0 || elsewhere.length === 0 ? 0 : 5, () => pressInBoth(actor, elsewhere, withButtons)],
      [isAsked ? 12 : 40, write],
      [3, () => Effect.all([write(), write()], { concurrency: "unbounded" })],
      [
        4,
        () => person.send(chat, dice.chance(0.5) ? "" : dice.pick(answers), { attachments: [dice.pick(attachments)] })
      ],
      [own.length === 0 ? 0 : 3, () => changeOwnMessage(actor, own)],
      [2, () => blockAndReturn(actor)],
      [group === undefined ? 0 : 1, () => moveInGroup(actor)]
    ])()
  })

/** A person opens the dialog, and does something a few times. */
const visit = (actor: Actor): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { dice, group, mayAct, person } = actor
    const dialog = (yield* person.dialog).chat_id
    const count = 1 + dice.int(dice.pick([3, 8, 12]))
    for (let index = 0; index < count && mayAct(); index++) {
      const chat = group !== undefined && dice.chance(0.3) ? group : dialog
      yield* Effect.ignore(act(actor, dialog, chat))
      yield* pause(actor)
    }
  }).pipe(Effect.ignore)

const begin = ({ dice, mayAct, person }: Actor): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (!mayAct()) return Effect.void
    return Effect.ignore(dice.chance(0.8) ? person.start() : person.send("Hello"))
  })

/** The behavior of a person for some days. */
export const live = (actor: Actor, duration: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { dice, habits } = actor
    const between = 86_400_000 / habits.visits
    let rest = duration
    for (let wait = dice.int(Math.min(between, duration)); wait < rest; wait = dice.int(2 * between)) {
      yield* Effect.sleep(wait)
      if (rest === duration) yield* begin(actor)
      yield* visit(actor)
      rest -= wait
    }
  })
