import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { main } from "./command.ts"

const log = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

NodeRuntime.runMain(main(process.argv.slice(2)).pipe(Effect.provide(Layer.merge(NodeServices.layer, log))), {
  disableErrorReporting: true,
  // An interruption is not a failure.
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 2)
})
