import type { Figure } from "../figure.ts"
import * as live from "../live/figure.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "live-refused",
    measures:
      "429 responses while 10 and then 50 chats get answers of 40 tokens a second for 60 seconds, in virtual time",
    unit: "requests",
    goal: 0,
    measure: live.refused
  },
  {
    figure: "live-exact",
    measures: "of these answers, those whose final text is that of the stream, if the markup of each edit is balanced",
    unit: "ratio",
    goal: 1,
    isMinimum: true,
    measure: live.exact
  },
  {
    figure: "live-staleness",
    measures:
      "how long the oldest word that an edit adds has waited for it, p99, over the shortest time between two edits of a chat that the limits allow beside one reply a second to other chats; the answers begin 0.1 seconds after each other",
    unit: "ratio",
    goal: 1.2,
    measure: live.staleness
  },
  {
    figure: "live-reply-p99-ms",
    measures: "how long replies to other chats wait meanwhile, p99",
    unit: "ms",
    goal: 200,
    measure: live.reply
  },
  {
    figure: "live-records",
    measures:
      "writes of the journal for such an answer, the most at 10 and at 50 chats: its text while it grows, and its messages",
    unit: "per second",
    goal: 1.5,
    measure: live.records
  }
]
