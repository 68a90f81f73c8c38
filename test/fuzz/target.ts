/** A target of the fuzzer, and the run of one target: every input must end in a value or a typed error, within a second. */
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import { inspect } from "node:util"

/** The token of the bot and the secret of the webhook: neither may be in a text that is produced. */
export const token = "s3cret.Token/With+Signs=="
export const secret = "Secret-of-the-webhook-0123456789"

export interface Running {
  /** Takes an input. Returns the texts that were produced; a typed failure is one, too. A defect is a finding. */
  readonly take: (input: string) => Effect.Effect<ReadonlyArray<string>, unknown>
  /** Checks the conditions that must hold after all inputs. Fails with the first one that does not hold. */
  readonly check?: Effect.Effect<void, string>
}

export interface Target {
  readonly name: string
  readonly input: Arbitrary.Arbitrary<string>
  /** Part of the usual number of inputs that a target with long inputs gets. Default: 1. */
  readonly share?: number
  /** How long an input may take, in milliseconds of the processor. Default: 1000. */
  readonly maxMillis?: number
  /** Starts the program under test. */
  readonly start: Effect.Effect<Running, unknown, Scope.Scope>
}

export class Finding extends Data.TaggedError("Finding")<{
  readonly target: string
  readonly problem: string
  /** The shrunk input, if one input alone shows the problem. */
  readonly input?: string
  /** Repeats the problem: see `scripts/fuzz.ts`. */
  readonly repeat: string
}> {
  override get message() {
    const input = this.input === undefined ? "" : `\nInput (${this.input.length} characters): ${excerpt(this.input)}`
    return `${this.target}: ${this.problem}${input}\nRepeat: npm run fuzz -- --target "${this.target}" ${this.repeat}`
  }
}

export const excerpt = (text: string): string =>
  text.length <= 2000 ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, 2000))}…`

const millisSince = (start: NodeJS.CpuUsage): number => {
  const { system, user } = process.threadCpuUsage(start)
  return (user + system) / 1000
}

const longest = "10 seconds"

/** A layer that records the log. */
const capture = () => {
  const texts: Array<string> = []
  const logger = Logger.make(
    ({ cause, message }) => void texts.push(inspect(message, { depth: 8 }), Cause.pretty(cause))
  )
  return { texts, layer: Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "Trace")) }
}

const problemOf = (
  exit: Exit.Exit<ReadonlyArray<string>, unknown>,
  logs: ReadonlyArray<string>
): string | undefined => {
  if (Exit.isFailure(exit) && exit.cause.reasons.some((reason) => reason._tag !== "Fail")) {
    return `ended with a defect: ${Cause.pretty(exit.cause)}`
  }
  const produced = Exit.isSuccess(exit)
    ? exit.value
    : [Cause.pretty(exit.cause), inspect(Cause.squash(exit.cause), { depth: 8 })]
  const leak = [...produced, ...logs].find((text) => text.includes(token) || text.includes(secret))
  return leak === undefined ? undefined : `a text has the token or the secret: ${excerpt(leak)}`
}

export interface RunOptions {
  readonly seed: string
  readonly runs: number
  readonly replay?: string | undefined
  /** Called before each input, so that an input that never ends is known. */
  readonly onInput?: ((input: string) => void) | undefined
}

/** Runs a target with a number of inputs. Fails with the first finding, shrunk. */
export const run = (target: Target, { onInput, replay, runs, seed }: RunOptions): Effect.Effect<void, Finding> =>
  Effect.suspend(() => {
    const { layer, texts } = capture()
    const { maxMillis = 1000 } = target
    const once = (running: Running, input: string) =>
      Effect.gen(function* () {
        texts.length = 0
        // The time of the processor, because other programs run on the machine.
        const start = process.threadCpuUsage()
        const exit = yield* Effect.exit(
          Effect.timeoutOrElse(running.take(input), {
            duration: longest,
            orElse: () => Effect.die(`it did not end within ${longest}`)
          })
        )
        return { problem: problemOf(exit, texts), millis: millisSince(start) }
      })
    const property = (running: Running) => (input: string) =>
      Effect.gen(function* () {
        onInput?.(input)
        const { millis, problem } = yield* once(running, input)
        if (problem !== undefined) return yield* Effect.fail(problem)
        if (millis <= maxMillis) return true
        // Another program may have taken the processor, so a slow input counts only if it is slow again.
        const again = yield* once(running, input)
        return again.millis <= maxMillis
          ? true
          : yield* Effect.fail(`took ${Math.round(again.millis)} ms, and may take ${maxMillis} ms`)
      })
    return Effect.gen(function* () {
      const running = yield* target.start
      const result = yield* Arbitrary.checkEffect(target.input, property(running), {
        runs,
        seed,
        replay,
        maxShrinks: 300
      })
      if (result._tag === "Falsified") {
        const problem = result.failure._tag === "PropertyError" ? result.failure.error : "returned false"
        return yield* new Finding({
          target: target.name,
          problem,
          input: result.shrunkInput,
          repeat: `--replay '${result.replay}'`
        })
      }
      if (result._tag !== "Passed") {
        return yield* new Finding({ target: target.name, problem: inspect(result), repeat: `--seed ${seed}` })
      }
      const after = yield* Effect.exit(running.check ?? Effect.void)
      if (Exit.isFailure(after)) {
        const problem = `after ${runs} inputs: ${Cause.pretty(after.cause)}`
        return yield* new Finding({ target: target.name, problem, repeat: `--seed '${seed}' --runs ${runs}` })
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(layer),
      Effect.catchCause((cause) => {
        const error = Cause.squash(cause)
        return Effect.fail(
          error instanceof Finding
            ? error
            : new Finding({
                target: target.name,
                problem: Cause.pretty(cause),
                repeat: `--seed '${seed}' --runs ${runs}`
              })
        )
      })
    )
  })
