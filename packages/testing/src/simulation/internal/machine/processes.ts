/** The processes of the bot: how they start, stop, and are disturbed. */
import * as Outage from "@colloquy/core/client/Outage"
import * as Deliveries from "@colloquy/core/inbox/Deliveries"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import type { ProcessChanged } from "../../SimulationEvent.ts"
import { Process } from "../world/process.ts"
import type { Disturbance, Machine } from "./machine.ts"

interface Running {
  readonly process: Process
  /** The version of the bot. */
  readonly version: number
  readonly fiber: Fiber.Fiber<unknown, unknown>
  isStopping: boolean
  hasEnded: boolean
}

/** Makes the processes of a bot. `programOf` returns the program of a process with a version of the bot. */
export const makeBots = (
  { history, plan, world }: Machine,
  programOf: (process: Process, version: number, context: Context.Context<never>) => Effect.Effect<unknown, unknown>
) => {
  const supervisor = new Process("supervisor")
  let generation = 0
  let isOver = false
  let isDeploying = false
  /** The oldest version that is started. */
  let oldest = 1
  const running: Array<Running> = []
  const stopped: Array<Running> = []
  const problems: Array<string> = []
  const processes = new Set<Process>()

  const loggerOf = ({ name }: Process) =>
    Logger.make(({ logLevel, message }) => {
      const text = (Array.isArray(message) ? message : [message]).map(String).join(" ")
      history.add({ type: "log", process: name, level: logLevel, message: text.slice(0, 400) })
    })

  const change = (process: Process, change: ProcessChanged["change"], detail = "") =>
    history.add({ type: "process", process: process.name, change, detail })

  const startOne = (version: number) => {
    const index = generation++
    const process = new Process(`bot${index + 1}`, plan.skews[index % plan.skews.length])
    processes.add(process)
    const context = Context.make(Logger.CurrentLoggers, new Set([loggerOf(process)])).pipe(
      Context.add(Deliveries.ImmediateShutdown, false)
    ) as Context.Context<never>
    change(process, "started", `version ${version}`)
    const fiber = world.fork(process, context, programOf(process, version, context))
    const bot: Running = { process, version, fiber, isStopping: false, hasEnded: false }
    fiber.addObserver((exit) => {
      bot.hasEnded = true
      const detail = exit._tag === "Success" ? "success" : String(exit.cause).slice(0, 300)
      change(process, "ended", detail)
      if (bot.isStopping) return
      // A bot gives up if the store fails for longer than ten minutes, and a supervisor starts the bot again.
      const hasGivenUp = exit._tag === "Failure" && Cause.squash(exit.cause) instanceof Outage.GaveUp
      if (!hasGivenUp || !world.isFaulty) problems.push(`${process.name} ended by itself: ${detail}`)
      running.splice(running.indexOf(bot), 1)
      restartAfter(1000, version)
    })
    running.push(bot)
  }

  /** Starts processes until as many run as the plan says. */
  const start = () => {
    while (running.length < plan.processes) startOne(1)
  }

  const later = (millis: number, run: () => void) =>
    world.fork(supervisor, Context.empty(), Effect.andThen(Effect.sleep(millis), Effect.sync(run)))

  /** Starts a process in the place of one that has ended, after a time. */
  const restartAfter = (millis: number, version: number) =>
    later(millis, () => {
      if (!isOver) startOne(Math.max(version, oldest))
    })

  const stopOne = (bot: Running) => {
    bot.isStopping = true
    running.splice(running.indexOf(bot), 1)
    stopped.push(bot)
    change(bot.process, "stopping")
    world.schedule(bot.process, () => bot.fiber.interruptUnsafe())
  }

  const disturbOne = ({ kind, millis }: Disturbance, bot: Running) => {
    const { process, version } = bot
    switch (kind) {
      case "kill":
        running.splice(running.indexOf(bot), 1)
        world.kill(process)
        change(process, "killed")
        restartAfter(millis, version)
        return
      case "freeze":
        if (process.isFrozen) return
        world.freeze(process)
        change(process, "frozen")
        later(millis, () => {
          if (!process.isAlive) return
          world.continue(process)
          change(process, "continued")
        })
        return
      case "stop":
        stopOne(bot)
        restartAfter(millis, version)
        return
      case "upgrade":
        isDeploying = true
        stopOne(bot)
        restartAfter(millis, 2)
        return
      case "cut":
        if (process.cutUntil > world.now) return
        process.cutUntil = world.now + millis
        change(process, "cut")
        later(millis, () => process.isAlive && change(process, "joined"))
        return
      case "clock":
        process.skew += millis
        change(process, "clock", `${millis} ms`)
        return
    }
  }

  /** Does something to one of the running processes, and returns its name. `name`: the one, if it runs. */
  const disturb = (disturbance: Disturbance, name?: string) => {
    if (running.length === 0) return undefined
    const bot = running.find(({ process }) => process.name === name) ?? running[disturbance.victim % running.length]
    disturbOne(disturbance, bot)
    return bot.process.name
  }

  return {
    /** Whether a process is a process of the bot. */
    has: (process: Process) => processes.has(process),
    disturb,
    start,
    /** Ends a rolling deploy: all processes that still run the older version are started again with the newer one. */
    finishDeploy: () => {
      if (!isDeploying) return
      oldest = 2
      for (const bot of running.filter(({ version }) => version < oldest)) {
        stopOne(bot)
        restartAfter(0, oldest)
      }
    },
    /** Stops all running processes. */
    stop: () => {
      isOver = true
      for (const bot of running.slice()) stopOne(bot)
    },
    /** The problems of processes that have stopped or ended. */
    problems: () => [
      ...problems,
      ...stopped.flatMap(({ hasEnded, process }) => {
        if (!hasEnded) return [`${process.name} did not stop`]
        const pending = world.pendingOf(process)
        return pending === 0 ? [] : [`${process.name} has ${pending} fibers or sleeps left after its end`]
      })
    ]
  }
}
