/** How the processes of a soak run talk to each other: commands of the parent, and one answer to each. */
import type { ChildProcess } from "node:child_process"

export const token = "token-of-the-soak-run"

/** The bot replies to each message whose number is a multiple of this. */
export const replyEvery = 5

/** How many messages the bot handles at the same time. */
export const concurrency = 16

/** The texts that the bot sent to each dialog, in their order. */
export type Replies = ReadonlyArray<ReadonlyArray<string>>

interface Question {
  readonly id: number
  readonly command: string
}

interface Answer {
  readonly id: number
  readonly value: unknown
}

/** Answers the commands of the parent process. */
export const answer = <Commands extends object>(commands: {
  readonly [C in keyof Commands]: () => Promise<Commands[C]>
}): void => {
  process.on("message", ({ command, id }: Question) => {
    void commands[command as keyof Commands]().then((value) => process.send?.({ id, value } satisfies Answer))
  })
}

let nextId = 0

/** Sends a command to a child process, and returns its answer, or `undefined` if the child ended before. */
export const ask = <Commands extends object, C extends keyof Commands & string = keyof Commands & string>(
  child: ChildProcess,
  command: C
): Promise<Commands[C] | undefined> =>
  new Promise((resolve) => {
    const id = nextId++
    const end = (value: Commands[C] | undefined) => {
      child.off("message", onMessage)
      child.off("exit", onExit)
      resolve(value)
    }
    const onMessage = (message: Answer) => {
      if (message.id === id) end(message.value as Commands[C])
    }
    const onExit = () => end(undefined)
    child.on("message", onMessage).on("exit", onExit)
    if (child.connected) child.send({ id, command } satisfies Question, (error) => error && onExit())
    else onExit()
  })
