import type * as Endpoint from "@colloquy/core/client/Endpoint"
import { answers } from "./answers.ts"
import type { AllHandlers, Handler } from "./call.ts"
import { chats } from "./chats.ts"
import { comments } from "./comments.ts"
import { me } from "./me.ts"
import { members } from "./members.ts"
import { messages } from "./messages.ts"
import { subscriptions } from "./subscriptions.ts"
import { updates } from "./updates.ts"
import { uploads } from "./uploads.ts"
import { videos } from "./videos.ts"

const all: AllHandlers = {
  Answers: answers,
  Chats: chats,
  Comments: comments,
  Me: me,
  Members: members,
  Messages: messages,
  Subscriptions: subscriptions,
  Updates: updates,
  Uploads: uploads,
  Videos: videos
}

/** The handler of an endpoint. */
export const handlerOf = ({ endpoint }: Endpoint.Any): Handler<Endpoint.Any> => {
  const [module, name] = endpoint.split(".")
  const handlers: Readonly<Record<string, Handler<Endpoint.Any>>> | undefined = all[module as keyof AllHandlers]
  const handler = handlers?.[name]
  if (handler === undefined) throw new Error(`The emulator has no handler for ${endpoint}`)
  return handler
}
