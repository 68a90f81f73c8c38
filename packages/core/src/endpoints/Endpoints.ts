/**
 * All endpoints, for programs that interpret every endpoint: the emulator, the documentation, contract tests.
 *
 * @since 0.1.0
 */
import * as Answers from "./Answers.ts"
import * as Chats from "./Chats.ts"
import * as Comments from "./Comments.ts"
import * as Endpoint from "../client/Endpoint.ts"
import * as Me from "./Me.ts"
import * as Members from "./Members.ts"
import * as Messages from "./Messages.ts"
import * as Subscriptions from "./Subscriptions.ts"
import * as Updates from "./UpdatesPage.ts"
import * as Uploads from "./Uploads.ts"
import * as Videos from "./Videos.ts"

const modules = { Answers, Chats, Comments, Me, Members, Messages, Subscriptions, Updates, Uploads, Videos }

type NameIn<Module extends keyof typeof modules> = {
  [Key in keyof (typeof modules)[Module] & string]: (typeof modules)[Module][Key] extends { readonly endpoint: string }
    ? `${Module}.${Key}`
    : never
}[keyof (typeof modules)[Module] & string]

/**
 * The name of an endpoint, such as `Messages.send`.
 *
 * @category models
 * @since 0.1.0
 */
export type Name = { [Module in keyof typeof modules]: NameIn<Module> }[keyof typeof modules]

/**
 * All endpoints.
 *
 * @category collections
 * @since 0.1.0
 */
export const all: ReadonlyArray<Endpoint.Any> = Object.values(modules).flatMap((module) =>
  Object.values<unknown>(module).filter(Endpoint.isEndpoint)
)
