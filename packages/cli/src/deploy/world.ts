import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Json from "@colloquy/core/base/Json"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"

type Store = InboxStore.InboxStore["Service"]

/** The ids of a chat and of a user in the scope of a value. */
interface Ids {
  readonly chat_id?: number | undefined
  readonly user_id?: number | undefined
}

/** The store of the bot, of which a rehearsal reads, and where a rehearsal changes nothing. Nothing can be claimed. */
const readOnly = (store: Store): Store => ({
  ...store,
  isShared: false,
  listen: undefined,
  enqueue: () => Effect.succeed(0),
  claim: () => Effect.succeed([]),
  commit: (commits) => Effect.succeed(commits.map(() => "leaseLost")),
  renew: () => Effect.succeed([]),
  write: (writes) => Effect.succeed(writes.map(() => "applied")),
  forget: () => Effect.succeed(0),
  takeDeadLetters: () => Effect.succeed(0),
  cleanup: () => Effect.void,
  untilNext: Effect.undefined
})

/** Creates the chat of a conversation in the emulator, for calls that the conversation makes outside of steps. */
export const seed = ({ chat_id = 0, user_id }: Ids) => {
  const members = user_id === undefined ? [] : [user_id]
  const type = chat_id > 0 && user_id !== undefined ? "dialog" : "chat"
  return HttpClientRequest.post(`${Emulator.baseUrl}/_emulator/seed`).pipe(
    HttpClientRequest.bodyText(
      Json.stringify({
        silent: true,
        unchecked: true,
        users: members.map((id) => ({ user_id: id, first_name: "Ann" })),
        chats: [{ type, chat_id, members }]
      }),
      "application/json"
    ),
    HttpClient.execute,
    Effect.ignore
  )
}

/** A world in which stored data are rehearsed: the emulator in place of the platform, and a store that does not change. */
export const layerDry = (store: Store) =>
  Layer.merge(
    Emulator.layerBot({ limits: false }),
    Inbox.layer().pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, readOnly(store))))
  )
