import { Emulator, EmulatorServer, NodeWebhookSender } from "@colloquy/testing"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Runner from "../src/runner/scenario.ts"
import { twoProcesses } from "../src/scenarios/replicas.ts"

const platform = EmulatorServer.layer().pipe(
  Layer.provideMerge(Emulator.layer({ token: Runner.token, insecureWebhooks: true })),
  Layer.provide(NodeWebhookSender.layer()),
  Layer.merge(NodeHttpClient.layerUndici)
)

describe("the recipes", () => {
  it.live("twoProcesses keeps answering when one of the processes stops", ({ skip }) =>
    Effect.gen(function* () {
      yield* twoProcesses("recipes/twoProcesses")
      const answers = (yield* Emulator.seen).flatMap((event) =>
        event._tag === "Message" ? [event.message.body?.text ?? ""] : []
      )
      assert.lengthOf(answers, 2)
      for (const answer of answers) assert.match(answer, /^Handled by process \d+$/)
    }).pipe(
      Effect.scoped,
      Effect.provide(platform),
      Effect.catchTag("ServicesUnavailable", (error) =>
        process.env["CI"] === "true" ? Effect.fail(error) : Effect.sync(() => skip(error.message))
      )
    )
  )
})
