/** What the bots of this figure show: tokens of an answer with markdown, and what a person reads of it. */

export const tokensPerSecond = 40
export const tokenMillis = 1000 / tokensPerSecond
export const seconds = 60
export const tokenCount = tokensPerSecond * seconds

/** How many replies other chats get. */
export const repliesPerSecond = 1

/** People ask one after the other. */
export const startMillis = 100

const period = 160

/** The markdown of a token, and the text that it shows. Each token has its number, so that it is found in what is shown. */
const tokenAt = (index: number): readonly [markdown: string, text: string] => {
  const word = `w${index}`
  const place = index % period
  if (place === 10) return [`**${word} `, `${word} `]
  if (place === 20) return [`${word}** `, `${word} `]
  if (place === 30) return [`_${word}_ `, `${word} `]
  if (place === 40) return [`\`${word}\` `, `${word} `]
  if (place === 50) return [`[${word}](https://example.com/${word}) `, `${word} `]
  if (place === 79) return [`${word}.\n\n\`\`\`ts\n`, `${word}.\n\n`]
  if (place >= 80 && place < 99) return [`${word}\n`, `${word}\n`]
  if (place === 99) return [`${word}\n\`\`\`\n\n`, `${word}\n\n`]
  if (place % 12 === 11) return [`${word}. `, `${word}. `]
  return [`${word} `, `${word} `]
}

export const tokens: ReadonlyArray<string> = Array.from({ length: tokenCount }, (_, index) => tokenAt(index)[0])

export const text: string = Array.from({ length: tokenCount }, (_, index) => tokenAt(index)[1]).join("")

export const withoutSpace = (text: string): string => text.replace(/\s+/g, "")

/** The number of the last token of a text that is complete, or -1. */
export const lastToken = (text: string): number => {
  const last = /w(\d+)(?!.*w\d)/s.exec(text.slice(-60))
  return last === null ? -1 : Number(last[1])
}

/** What was shown in a chat: until which token, and when, in milliseconds after its stream began. */
export interface Shown {
  readonly token: number
  readonly at: number
}

/** How long the oldest token of each change has waited until it was shown, in milliseconds. */
export const ages = (shown: ReadonlyArray<Shown>): ReadonlyArray<number> => {
  let next = 0
  return shown.flatMap(({ at, token }) => {
    if (token < next) return []
    const age = at - (next + 1) * tokenMillis
    next = token + 1
    return [Math.max(0, age)]
  })
}

/** The time between two changes of a chat that the limits allow beside the replies to others, in milliseconds. */
export const bestInterval = (chats: number): number => Math.max(500, (chats / (30 - repliesPerSecond)) * 1000)
