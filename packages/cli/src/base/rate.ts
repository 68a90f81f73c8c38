import * as Flag from "effect/cli/Flag"

/** The flag of commands that queue many updates. */
export const rateFlag = Flag.Int("rate").pipe(
  Flag.filter(
    (rate) => rate > 0,
    (rate) => `--rate ${rate}: must be above 0`
  ),
  Flag.withMetavar("NUMBER"),
  Flag.withDescription(
    "Maximum number of updates in a second, so that the bot does other work as well. Default: no limit"
  ),
  Flag.optional
)
