/**
 * `npm run example -- NAME`: an example of this folder as a process of its own, against the emulator on a free port, and
 * people who talk with it. Without a name it lists them.
 */
import { Emulator, EmulatorServer, NodeWebhooks } from "@colloquy/testing"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Data, Effect, Layer, References, Runtime } from "effect"
import * as broadcast from "./scenes/broadcast.ts"
import * as comments from "./scenes/comments.ts"
import * as echo from "./scenes/echo.ts"
import * as reminder from "./scenes/reminder.ts"
import * as send from "./scenes/send.ts"
import * as several from "./scenes/several.ts"
import * as upload from "./scenes/upload.ts"
import * as webhook from "./scenes/webhook.ts"
import * as Stage from "./stage/stage.ts"

const scenes = { broadcast, comments, echo, reminder, send, several, upload, webhook }

const platform = EmulatorServer.layer().pipe(
  Layer.provideMerge(
    Emulator.layer({ token: Stage.token, insecureWebhooks: true, processing: { minimum: "2 seconds" } })
  ),
  Layer.provide(NodeWebhooks.layer()),
  Layer.merge(NodeHttpClient.layerUndici)
)

// The conversation has the screen: the emulator only logs what is wrong with itself.
const quiet = Layer.succeed(References.MinimumLogLevel, "Error")

class NoSuchExample extends Data.TaggedError("NoSuchExample")<{}> {
  override readonly [Runtime.errorExitCode] = 2

  override get message() {
    return `npm run example -- NAME, where NAME is one of ${Object.keys(scenes).join(", ")}`
  }
}

const find = (name = ""): Stage.Scene =>
  Object.hasOwn(scenes, name) ? scenes[name as keyof typeof scenes].scene : Effect.fail(new NoSuchExample())

const main = Effect.scoped(find(process.argv[2])).pipe(
  Effect.tapError((error) => Console.error(error.message)),
  Effect.tapDefect((defect) => Console.error(defect)),
  Effect.provide(Layer.provide(platform, quiet))
)

NodeRuntime.runMain(main, { disableErrorReporting: true })
