/** The form as a workflow of `effect/workflow`, in the SQLite file of a place. */
import { type BotApi, Messages } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import { NodeSqlite } from "@colloquy/node"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as SingleRunner from "effect/cluster/SingleRunner"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Activity from "effect/workflow/Activity"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import { answerOf, questionOf } from "./form.ts"

const Form = Workflow.make("form", {
  payload: { chat: Schema.Int, questions: Schema.Int },
  idempotencyKey: ({ chat }) => String(chat)
})

const deferredOf = (index: number) => DurableDeferred.make(`question ${index}`, { success: Schema.String })

const say = (chat: number, name: string, text: string) =>
  Activity.make({ name, execute: Effect.orDie(Effect.asVoid(Messages.send({ chat_id: ChatId.make(chat), text }))) })

const form = Form.toLayer(
  Effect.fnUntraced(function* ({ chat, questions }) {
    const answers: Array<string> = []
    for (let index = 1; index <= questions; index++) {
      yield* say(chat, `ask ${index}`, questionOf(index))
      answers.push(yield* DurableDeferred.await(deferredOf(index)))
    }
    yield* say(chat, "thanks", `Thank you for ${answers.length} answers.`)
  })
)

/** Workflows on a SQLite file. */
export const layer = (filename: string, api: Layer.Layer<BotApi.BotApi, unknown>) =>
  form.pipe(
    Layer.provideMerge(ClusterWorkflowEngine.layer),
    Layer.provideMerge(SingleRunner.layer()),
    Layer.provideMerge(NodeSqlite.layer({ filename })),
    Layer.provide(NodeCrypto.layerDigest),
    Layer.provide(api)
  )

export const begin = (chat: number, questions: number) => Form.execute({ chat, questions }, { discard: true })

export const answer = (chat: number, questions: number, index: number) => {
  const deferred = deferredOf(index)
  return Effect.flatMap(
    DurableDeferred.tokenFromPayload(deferred, { workflow: Form, payload: { chat, questions } }),
    (token) => DurableDeferred.succeed(deferred, { token, value: answerOf(index) })
  )
}
