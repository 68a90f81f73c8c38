import type { Defect } from "./defect.ts"

const step = 'yield* talk.step("pay", Schema.NullOr(Schema.Int), Payments.charge(price))'

/** A charge with a key that differs each time. */
const freshCharge = "Payments.Payments.use(({ charge }) => charge(price, crypto.randomUUID()))"

const thanks = 'yield* Messages.reply(update, "Thank you. We will answer soon.")'

const entry = "yield* Messages.reply(update, Text.message(Text.link(title, url)))"

export const defects: ReadonlyArray<Defect> = [
  {
    name: "a charge outside of a step",
    bot: "pizza",
    changes: [[step, `yield* ${freshCharge}`]],
    rule: "Each payment is an order"
  },
  {
    name: "a charge with another key in each attempt",
    bot: "pizza",
    changes: [["Payments.charge(price)", freshCharge]],
    rule: "Each payment is an order"
  },
  {
    name: "a question without a timeout",
    bot: "pizza",
    changes: [[' timeout: "10 minutes",', ""]],
    rule: "waits for an answer without a timeout"
  },
  {
    name: "a reply before the charge has succeeded",
    bot: "pizza",
    changes: [[`const number = ${step}`, `yield* talk.say("Your payment is accepted.")\n    const number = ${step}`]],
    rule: "Nobody is thanked who has not paid"
  },
  {
    name: "a handler that takes each error of a charge for a declined payment",
    bot: "pizza",
    changes: [["Payments.charge(price)", "Effect.catchCause(Payments.charge(price), () => Effect.succeed(null))"]],
    rule: "Each payment is an order"
  },
  {
    name: "a second press of the staff that counts",
    bot: "shop",
    changes: [['if (order?.status !== "paid")', "if (order === null)"]],
    rule: "Nobody is reminded of an order that is collected"
  },
  {
    name: "a second press of a customer that counts",
    bot: "shop",
    changes: [
      ["    yield* Cart.clear\n", ""],
      [
        "Menu.once(Menu.button(`pay ${amount}`, `Pay ${amount} €`, buy))",
        "Menu.button(`pay ${amount}`, `Pay ${amount} €`, buy)"
      ]
    ],
    rule: "Nobody pays more than the price"
  },
  {
    name: "a timer that is not cancelled",
    bot: "shop",
    changes: [["    yield* Reminder.cancel({ key: String(number) })\n", ""]],
    rule: "Nobody is reminded of an order that is collected"
  },
  {
    name: "an unanswered press",
    bot: "quiz",
    changes: [['return yield* Answers.answer(update, "You have had your chance.")', "return undefined"]],
    rule: "The bot has not answered the press"
  },
  {
    name: "a second chance after a wrong answer",
    bot: "quiz",
    changes: [["if (data.wrong.includes(user_id))", "if (data.wrong.length > 1000)"]],
    rule: "Each member has one chance"
  },
  {
    name: "a message whose error is swallowed",
    bot: "rss",
    changes: [[entry, entry.replace("Messages", "Effect.ignore(Messages").concat(")")]],
    rule: "No entry is missing"
  },
  {
    name: "a message outside of the journal",
    bot: "rss",
    changes: [[entry, entry.replace("Messages", "Effect.forkDetach(Messages").concat(")")]],
    rule: "No entry is missing"
  },
  {
    name: "a message that the handler does not wait for",
    bot: "desk",
    changes: [[thanks, thanks.replace("Messages", "Effect.forkDetach(Messages").concat(")")]],
    rule: "Each question gets a first answer"
  },
  {
    name: "a newcomer who is asked without a timeout",
    bot: "moderation",
    changes: [["        timeout,\n", ""]],
    rule: "waits for an answer without a timeout"
  },
  {
    name: "a removal that the conversation does not wait for",
    bot: "moderation",
    changes: [
      [
        "            removeMember(talk.chat_id, talk.user_id),\n",
        "            Effect.forkDetach(removeMember(talk.chat_id, talk.user_id)),\n"
      ]
    ],
    rule: "Each silent newcomer is removed"
  },
  {
    name: "an answer of a model that the handler does not wait for",
    bot: "assistant",
    changes: [
      ["  Helper.reply(update, {", "  Effect.forkDetach(Helper.reply(update, {"],
      ["${message}`\n  })", "${message}`\n  }))"]
    ],
    rule: "Each question is answered"
  },
  {
    name: "a reply that the handler does not wait for",
    bot: "echo",
    changes: [
      [
        '  Messages.reply(update, { text: Update.textOf(update) ?? "(nothing to repeat)", attachments: buttons })',
        '  Effect.forkDetach(Messages.reply(update, { text: Update.textOf(update) ?? "(nothing to repeat)", attachments: buttons }))'
      ]
    ],
    rule: "Each text is repeated"
  }
]
