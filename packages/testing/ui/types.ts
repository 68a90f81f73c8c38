import type { Attachment } from "@colloquy/core/model/Attachment"
import type { Comment, Message } from "@colloquy/core/model/Message"
import type { EmulatorEvent } from "../src/emulator/EmulatorEvent.ts"
import type { Success } from "./api.ts"

export type { Attachment, Comment, EmulatorEvent, Message }

/** An event of one type. */
export type EventOf<T extends EmulatorEvent["type"]> = Extract<EmulatorEvent, { readonly type: T }>

/** An attachment of one type. */
export type AttachmentOf<T extends Attachment["type"]> = Extract<Attachment, { readonly type: T }>

export type State = Success<"getState">
export type ChatView = State["chats"][number]
export type PersonView = State["people"][number]
export type BotView = State["bots"][number]
export type User = PersonView["user"]
export type Limits = Success<"getLimits">
export type Faults = Success<"listFaults">["faults"]
export type MediaInfo = Success<"describeMedia">
export type RequestView = Success<"listRequests">["requests"][number]

/** A message with its earlier versions. */
export interface Shown {
  readonly mid: string
  readonly message: Message
  /** The message before each edit, oldest first, with the time of the edit. */
  readonly edits: ReadonlyArray<{ readonly at: number; readonly before: Message }>
  readonly isRemoved: boolean
}
