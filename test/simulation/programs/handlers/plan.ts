/** Plans of random handlers. */
import type { Dice } from "../../../../packages/testing/src/simulation/internal/world/dice.ts"
import { smallerLists, withSmaller } from "../smaller.ts"
import { chooseOperations, type Operation } from "./operations.ts"

/** A message that a person sends, and what its handler does. */
export interface Message {
  /** The text, which no other message of the plan has. */
  readonly text: string
  /** How long the person waits before. */
  readonly wait: number
  readonly operations: ReadonlyArray<Operation>
}

export interface ChatPlan {
  /** A dialog, a group whose messages the bot may read, or a group whose messages it may not. */
  readonly type: "dialog" | "readable" | "unreadable"
  readonly messages: ReadonlyArray<Message>
}

export interface HandlersPlan {
  readonly chats: ReadonlyArray<ChatPlan>
}

const planMessage = (dice: Dice, planOperation: (dice: Dice) => Operation, text: string, wait: number): Message => ({
  text,
  wait: dice.int(dice.chance(0.2) ? wait * 8 : wait),
  operations: Array.from({ length: dice.int(5) }, () => planOperation(dice))
})

export const planHandlers = (dice: Dice): HandlersPlan => {
  const wait = dice.pick([100, 2500, 10_000, 40_000])
  const planOperation = chooseOperations(dice.fork("operations"))
  return {
    chats: Array.from({ length: 1 + dice.int(4) }, (_, chat) => ({
      type: dice.weighted([
        [4, "dialog"],
        [2, "readable"],
        [1, "unreadable"]
      ] as const),
      messages: Array.from({ length: 1 + dice.int(20) }, (_, index) =>
        planMessage(dice, planOperation, `m${chat}-${index}`, wait)
      )
    }))
  }
}

/** People write every few seconds, and each handler takes up to two seconds. */
export const calmerHandlers = ({ chats }: HandlersPlan): HandlersPlan => ({
  chats: chats.map(({ messages, type }) => ({
    type,
    messages: messages.map(({ text, wait }, index) => ({
      text,
      wait: wait % 3000,
      operations: [{ type: "sleep", millis: (index * 700) % 2000 }]
    }))
  }))
})

const smallerMessages = (message: Message): ReadonlyArray<Message> => [
  ...smallerLists(message.operations).map((operations) => ({ ...message, operations })),
  ...(message.wait > 0 ? [{ ...message, wait: 0 }] : [])
]

const smallerChats = (chat: ChatPlan): ReadonlyArray<ChatPlan> => [
  ...smallerLists(chat.messages, 1).map((messages) => ({ ...chat, messages })),
  ...withSmaller(chat.messages, smallerMessages).map((messages) => ({ ...chat, messages }))
]

export const smallerHandlers = ({ chats }: HandlersPlan): ReadonlyArray<HandlersPlan> => [
  ...smallerLists(chats, 1).map((chats) => ({ chats })),
  ...withSmaller(chats, smallerChats).map((chats) => ({ chats }))
]
