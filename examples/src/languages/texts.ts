import { Bot, Conversation, State, Update } from "@colloquy/core"
import { FluentBundle, FluentResource, type FluentVariable } from "@fluent/bundle"
import { Effect, Schema } from "effect"
import en from "./en.ts"
import ru from "./ru.ts"

const Language = Schema.Literals(["en", "ru"])

export type Language = typeof Language.Type

/** The language that a person has chosen, and the language of the person's messenger. */
export const Languages = State.make(
  "languages",
  Schema.Struct({ chosen: Schema.optionalKey(Language), messenger: Schema.optionalKey(Language) }),
  { of: "user", initial: () => ({}) }
)

/** The language of the person of the update. An update without a person, such as a post in a channel, has the default language. */
export const language = Languages.get.pipe(
  Effect.map(({ chosen, messenger }): Language => chosen ?? messenger ?? "en"),
  Effect.catchTag("NoStateKey", () => Effect.succeed<Language>("en"))
)

// Marks around values are for texts that mix directions of writing.
const toBundle = (locale: Language, texts: string): FluentBundle => {
  const bundle = new FluentBundle(locale, { useIsolating: false })
  const [error] = bundle.addResource(new FluentResource(texts))
  if (error !== undefined) throw error
  return bundle
}

export const bundles: Readonly<Record<Language, FluentBundle>> = { en: toBundle("en", en), ru: toBundle("ru", ru) }

/** Formats a text, or an attribute of a text: `name` or `name.attribute`. */
const format = (language: Language, id: string, values: Readonly<Record<string, FluentVariable>> = {}): string => {
  const [name, attribute] = id.split(".") as [string, string?]
  const bundle = bundles[language]
  const message = bundle.getMessage(name)
  const pattern = attribute === undefined ? message?.value : message?.attributes[attribute]
  if (pattern == null) throw new Error(`The text "${id}" of the language "${language}" is missing.`)
  return bundle.formatPattern(pattern, values)
}

/** A text in the language of the person. */
export const text = (id: string, values?: Readonly<Record<string, FluentVariable>>) =>
  Effect.map(language, (language) => format(language, id, values))

const ofLocale = (locale: string): Language => (new Intl.Locale(locale).language === "ru" ? "ru" : "en")

/** Remembers the language of the messenger, because updates of groups, presses of old buttons and timers do not have it. */
const remember = (update: Update.Update) =>
  "user_locale" in update && update.user_locale != null && Update.userIdOf(update) !== undefined
    ? Effect.asVoid(
        Languages.update((languages) => ({ ...languages, messenger: ofLocale(update.user_locale ?? "en") }))
      )
    : Effect.void

/** The texts that conversations and outdated buttons use by themselves are in the language of the person too. */
export const inLanguage = <E, R>(handling: Effect.Effect<unknown, E, R>, update: Update.Update) =>
  Effect.gen(function* () {
    yield* remember(update)
    const own = yield* language
    return yield* handling.pipe(
      Effect.updateService(Conversation.CurrentTexts, (texts) => ({
        ...texts,
        yes: format(own, "yes"),
        no: format(own, "no"),
        again: () => format(own, "again"),
        cancelled: format(own, "cancelled"),
        unanswered: format(own, "late")
      })),
      Effect.updateService(Bot.CurrentTexts, (texts) => ({ ...texts, outdated: format(own, "outdated-button") }))
    )
  })
