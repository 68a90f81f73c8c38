import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** A flag that is off unless it is given. */
export const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDefault(false), Flag.withDescription(description))

/** An argument that is a text. */
export const textArgument = (name: string, description: string) =>
  Argument.withDescription(Argument.String(name), description)

/** Makes a flag whose value is `undefined` if the flag is not given. */
export const optional =
  (description: string) =>
  <A>(flag: Flag.Flag<A>): Flag.Flag<A | undefined> =>
    flag.pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrUndefined))

/** Makes a flag with a default, which ends the description. */
export const standard =
  <B extends string | number | boolean>(value: B, description: string) =>
  <A>(flag: Flag.Flag<A>): Flag.Flag<A | B> =>
    flag.pipe(Flag.withDefault(value), Flag.withDescription(`${description}. Default: ${value}`))

/** A flag with a number above 0. */
export const positiveFlag = (name: string) =>
  Flag.Int(name).pipe(
    Flag.filter(
      (number) => number > 0,
      (number) => `--${name} ${number}: must be above 0`
    )
  )

/** The flag of commands that queue many updates. */
export const rateFlag = positiveFlag("rate").pipe(
  Flag.withMetavar("NUMBER"),
  optional("Maximum number of updates in a second, so that the bot does other work as well. Default: no limit")
)

/** The flag `--interval`. */
export const intervalFlag = (value: string, minimum: Duration.Input, description: string) =>
  Flag.String("interval").pipe(
    standard(value, description),
    Flag.filterMap(
      (text) =>
        Option.filter(
          Duration.fromInput(text as Duration.Input),
          (interval) => Duration.toMillis(interval) >= Duration.toMillis(Duration.fromInputUnsafe(minimum))
        ),
      (text) => `--interval "${text}": must be a duration of at least ${minimum}, such as "${value}".`
    )
  )

/** A flag with a time in milliseconds, given as `2026-11-21T10:00:00Z`, or as a duration before now, such as `2 hours`. */
export const timeFlag = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("TIME"),
    Flag.mapEffect((text) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const ago = Duration.fromInput(text as Duration.Input)
        if (Option.isSome(ago)) return Effect.succeed(now - Duration.toMillis(ago.value))
        const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
        const message = `--${name} "${text}": must be a time, such as 2026-11-21T10:00:00Z, or a duration, such as "2 hours".`
        return Number.isNaN(at) ? Effect.fail(new CliError.ValidationError({ message })) : Effect.succeed(at)
      })
    ),
    optional(description)
  )
