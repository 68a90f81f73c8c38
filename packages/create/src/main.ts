import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import { managerOf } from "./choices.ts"
import { main } from "./command.ts"

const manager = managerOf(process.env["npm_config_user_agent"])

NodeRuntime.runMain(
  main(process.argv.slice(2), manager, process.stdin.isTTY).pipe(Effect.provide(NodeServices.layer)),
  {
    disableErrorReporting: true
  }
)
