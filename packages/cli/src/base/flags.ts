import * as Duration from "effect/Duration"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"

/** A flag that is off unless it is given. */
export const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDefault(false), Flag.withDescription(description))

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
