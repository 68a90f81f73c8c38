import * as Context from "effect/Context"
import type { Texts } from "../../Conversation.ts"

/** The texts that conversations use by themselves. */
export const CurrentTexts = Context.Reference<Texts>("@colloquy/core/Talk/CurrentTexts", {
  defaultValue: () => ({
    done: "Done",
    skip: "Skip",
    back: "Back",
    yes: "Yes",
    no: "No",
    chosen: "✓ ",
    again: (problem) => `Please try again: it ${problem}.`,
    tooFew: (min) => `Please choose at least ${min}.`,
    tooMany: (max) => `Please choose at most ${max}.`,
    late: "This question is closed.",
    notYours: "This question is for somebody else.",
    cancelled: "Cancelled.",
    unanswered: "",
    outdated: "Something has changed here. Please begin again.",
    startOver: "You have not finished yet. Start over?",
    failed: "Something has gone wrong here. This continues when the problem is solved.",
    wait: "Please wait, this is not finished yet."
  })
})
