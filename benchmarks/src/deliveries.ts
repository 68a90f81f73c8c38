import { messageCreated } from "./sample.ts"

export const secret = "a-secret-of-the-benchmarks"

const chats = 1000

const [beforeChat, afterChat] = messageCreated.split("-70912345678901")
const [betweenChatAndMid, afterMid] = afterChat.split("ffffbf81a1d1b6cb019d0b6a2f80007c")

/** The body of the nth delivery: a new message in one of 1,000 chats. */
export const delivery = (nth: number): string =>
  `${beforeChat}${-70912345678901 - (nth % chats)}${betweenChatAndMid}${nth.toString(16).padStart(32, "0")}${afterMid}`
