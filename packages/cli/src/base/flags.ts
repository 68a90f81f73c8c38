import * as Duration from "effect/Duration"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"

/** A flag that is off unless it is given. */
export const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDefault(false), Flag.withDescription(description))

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
  Flag.withDescription(
    "Maximum number of updates in a second, so that the bot does other work as well. Default: no limit"
  ),
  Flag.optional
)

/** The flag `--interval`. */
export const intervalFlag = (standard: Duration.Input, minimum: Duration.Input, description: string) =>
  Flag.String("interval").pipe(
    Flag.withDefault(String(standard)),
    Flag.filterMap(
      (text) =>
        Option.filter(
          Duration.fromInput(text as Duration.Input),
          (value) => Duration.toMillis(value) >= Duration.toMillis(Duration.fromInputUnsafe(minimum))
        ),
      (text) => `--interval "${text}": must be a duration of at least ${minimum}, such as "${standard}".`
    ),
    Flag.withDescription(`${description}. Default: ${standard}`)
  )
