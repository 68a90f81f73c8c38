/**
 * `npm run example -- NAME`: runs an example of this folder as a child process against the emulator, with a scenario of
 * users who talk to it. Without a name it lists the examples.
 */
import { Emulator, EmulatorServer, NodeWebhookSender } from "@colloquy/testing"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Data, Effect, Layer, References, Runtime } from "effect"
import * as Runner from "./runner/scenario.ts"
import * as analytics from "./scenarios/analytics.ts"
import * as assistant from "./scenarios/assistant.ts"
import * as broadcast from "./scenarios/broadcast.ts"
import * as comments from "./scenarios/comments.ts"
import * as desk from "./scenarios/desk.ts"
import * as echo from "./scenarios/echo.ts"
import * as helpdesk from "./scenarios/helpdesk.ts"
import * as languages from "./scenarios/languages.ts"
import * as moderation from "./scenarios/moderation.ts"
import * as photo from "./scenarios/photo.ts"
import * as pizza from "./scenarios/pizza.ts"
import * as quiz from "./scenarios/quiz.ts"
import * as reminder from "./scenarios/reminder.ts"
import * as replicas from "./scenarios/replicas.ts"
import * as rss from "./scenarios/rss.ts"
import * as send from "./scenarios/send.ts"
import * as shop from "./scenarios/shop.ts"
import * as upload from "./scenarios/upload.ts"
import * as webhook from "./scenarios/webhook.ts"

const scenarios = {
  analytics,
  assistant,
  broadcast,
  comments,
  desk,
  echo,
  helpdesk,
  languages,
  moderation,
  photo,
  pizza,
  quiz,
  reminder,
  replicas,
  rss,
  send,
  shop,
  upload,
  webhook
}

const platform = EmulatorServer.layer().pipe(
  Layer.provideMerge(
    Emulator.layer({
      token: Runner.token,
      moreTokens: [Runner.secondToken],
      insecureWebhooks: true,
      processing: { minimum: "2 seconds" }
    })
  ),
  Layer.provide(NodeWebhookSender.layer()),
  Layer.merge(NodeHttpClient.layerUndici)
)

// The output shows the conversation, so the emulator logs only errors.
const onlyErrors = Layer.succeed(References.MinimumLogLevel, "Error")

class UnknownExample extends Data.TaggedError("UnknownExample")<{}> {
  override readonly [Runtime.errorExitCode] = 2

  override get message() {
    return `Usage: npm run example -- NAME, where NAME is one of ${Object.keys(scenarios).join(", ")}`
  }
}

const find = (name = ""): Runner.Scenario =>
  Object.hasOwn(scenarios, name)
    ? scenarios[name as keyof typeof scenarios].scenario
    : Effect.fail(new UnknownExample())

const main = Effect.scoped(find(process.argv[2])).pipe(
  Effect.tapError((error) => Console.error(error.message)),
  Effect.tapDefect((defect) => Console.error(defect)),
  Effect.provide(Layer.provide(platform, onlyErrors))
)

NodeRuntime.runMain(main, { disableErrorReporting: true })
