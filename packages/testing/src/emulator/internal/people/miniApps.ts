import * as MiniApp from "@colloquy/core/model/MiniApp"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ButtonRef, OpenedApp } from "../../Person.ts"
import { nextName } from "../platform/ids.ts"
import type { MessageState } from "../platform/state.ts"
import { idOf } from "../platform/users.ts"
import type { Action, Actor } from "./access.ts"
import { appButton } from "./buttons.ts"

/** Opens the mini app of a button, with init data that have the signature of the platform. */
export const openApp =
  (actor: Actor, ref: ButtonRef) =>
  (message: MessageState): Action<OpenedApp> =>
    Effect.gen(function* () {
      const { self, state } = actor
      const { bot, button } = yield* appButton(actor, ref, message)
      const { first_name, last_name, username } = self.profile
      const { chat_id, type } = message.chat
      const initData = yield* MiniApp.sign(
        {
          query_id: nextName(state, "app"),
          user: { id: idOf(self), first_name, last_name, username, language_code: self.locale },
          chat: { id: chat_id, type: type.toUpperCase() },
          ...(button.payload == null ? {} : { start_param: button.payload })
        },
        { token: Redacted.make(bot.token) }
      )
      return { url: button.web_app, initData }
    })
