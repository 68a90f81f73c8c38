import * as Settings from "@colloquy/core/client/Settings"
import * as NodeBot from "@colloquy/node/bot/NodeBot"
import * as NodeWebhook from "@colloquy/node/inbox/NodeWebhook"
import * as RetryPolicy from "@colloquy/core/client/RetryPolicy"
import type * as Bot from "@colloquy/core/bot/Bot"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { action, type FlagsOf } from "../base/commands.ts"
import { failed, toFailure } from "../base/failure.ts"
import { asBot, client } from "../base/client.ts"
import { intervalFlag, optional, switchFlag } from "../base/flags.ts"
import { count, print, time } from "../base/output.ts"
import { Process, variables, withSettings } from "../base/settings.ts"
import * as stores from "../base/stores.ts"
import { checkCommands, checkParts } from "./bot.ts"
import { verify } from "../verify/verify.ts"
import { type Check, named, ok, problem, skipped, warning } from "./check.ts"
import * as machine from "./machine.ts"
import { watch, withDaily } from "./watch.ts"
import * as platform from "./platform.ts"

const allSettings = {
  ...NodeBot.clientSettings,
  port: NodeWebhook.settings.port,
  host: NodeWebhook.settings.host,
  secret: NodeWebhook.settings.secret,
  acceptedSecrets: NodeWebhook.settings.acceptedSecrets
}

const needsSettings = ["token", "tls", "clock", "subscriptions", "secret header", "port"]

const platformChecks = Effect.fnUntraced(function* (bot: Bot.Bot<unknown, unknown> | undefined) {
  const read = yield* Effect.result(Settings.all(allSettings))
  if (Result.isFailure(read)) {
    const problems = read.failure.problems.map(({ setting, problem: what }) =>
      problem(`${setting} ${what}`, `Set ${setting} in the environment or in .env, as docs/settings.md describes.`)
    )
    const others = [...needsSettings, ...(bot === undefined ? [] : ["commands"])]
    return [
      ...problems.map(named("settings")),
      ...others.map((name) => named(name)(skipped("a setting is missing or malformed")))
    ]
  }
  const { baseUrl, extraCa, host, port, proxy } = read.success
  const url = yield* Config.withDefault(Config.NonEmptyString("BOT_WEBHOOK_URL"), undefined)
  const byClient = Effect.gen(function* () {
    return [
      named("token")(yield* platform.checkToken),
      ...(bot === undefined ? [] : [named("commands")(yield* checkCommands(bot))]),
      ...(yield* platform.checkSubscriptions(url))
    ]
  }).pipe(
    // A check reports the current problem at once, without retries.
    RetryPolicy.override(RetryPolicy.none),
    Effect.provide(client),
    Effect.orElseSucceed((error) => [
      named("token")(problem(`the client cannot be created: ${error.message}`, "Correct the setting that it names."))
    ])
  )
  const hasProxy = proxy !== undefined
  const [first, ...others] = yield* Effect.all(
    [
      byClient,
      Effect.map(platform.checkTls(baseUrl, extraCa, hasProxy), named("tls")),
      Effect.map(platform.checkClock(baseUrl, hasProxy), named("clock")),
      Effect.map(platform.checkSecret(url), named("secret header")),
      Effect.map(machine.checkPort(url !== undefined, host, port), named("port"))
    ],
    { concurrency: "unbounded" }
  )
  return [named("settings")(ok(`the settings of the bot at ${baseUrl} are complete`)), ...first, ...others]
})

const storeChecks = Effect.gen(function* () {
  const found = yield* Effect.result(stores.place)
  if (Result.isFailure(found)) {
    return [named("database")(problem(toFailure(found.failure).message, "Set it, or choose another --store."))]
  }
  const place = found.success
  const env = yield* variables
  return yield* Effect.all(
    [
      Effect.sync(() => named("disk")(machine.checkDisk(place.kind === "sqlite" ? place.at : undefined))),
      Effect.map(machine.checkDatabase(place), named("database")),
      Effect.map(machine.checkRedis(env["REDIS_URL"], place.kind === "redis"), named("redis")),
      Effect.map(machine.checkInbox(place), named("inbox"))
    ],
    { concurrency: "unbounded" }
  )
})

const marks = { ok: "ok      ", warning: "warning ", problem: "problem ", skipped: "skipped " } as const

/** Problems come first, because the other lines can be many. */
const order: ReadonlyArray<Check["status"]> = ["problem", "warning", "ok", "skipped"]

const colors = { ok: "green", warning: "yellow", problem: "red", skipped: "gray" } as const

const describe = ({ advice, detail, name, status }: Check): string =>
  `${marks[status]} ${name}: ${detail}${advice === undefined ? "" : `\n           → ${advice}`}`

const allChecks = Effect.fnUntraced(function* (file: string | undefined) {
  const { cwd } = yield* Process
  const parts = file === undefined ? undefined : yield* checkParts(file)
  const [first, second] = yield* Effect.all([platformChecks(parts?.bot), storeChecks], { concurrency: "unbounded" })
  const checks: ReadonlyArray<Check> = [
    ...(parts === undefined ? [] : [named("parts")(parts.check)]),
    ...first,
    ...second,
    named("versions")(machine.checkVersions(cwd, "0.0.0"))
  ]
  return checks
})

/** Compares the platform with the assumptions of the library. */
export const checkAssumptions = (chat_id: number) => {
  const compared = Effect.gen(function* () {
    const { baseUrl, token } = yield* Settings.all(Settings.bot)
    const findings = yield* verify({ baseUrl, token, chat_id })
    const advice = `Run \`colloquy verify-platform --chat ${chat_id}\`, and see docs/assumptions.md.`
    const others = findings.flatMap(({ assumption, detail = "", result }) =>
      result === "confirmed" ? [] : [(result === "differs" ? problem : warning)(`${assumption}: ${detail}`, advice)]
    )
    return others.length > 0 ? others : [ok(`does as ${count(findings.length, "assumption")} say`)]
  })
  return asBot(compared).pipe(
    Effect.orElseSucceed((error) => [skipped(toFailure(error).message)]),
    Effect.map((outcomes) => outcomes.map(named("platform")))
  )
}

const doctorFlags = {
  bot: Flag.String("bot").pipe(
    Flag.withMetavar("MODULE"),
    optional(
      "Module that exports the bot, for example src/bot.ts: lists its parts, and compares its commands with those of the platform"
    )
  ),
  verify: Flag.Int("verify").pipe(
    Flag.withMetavar("CHAT"),
    optional("Also runs verify-platform in this test chat; with --watch, once a day")
  ),
  watch: switchFlag("watch", "Checks again and again, and prints the checks whose state changes. Press Ctrl-C to end"),
  interval: intervalFlag("5 minutes", "100 millis", "How often --watch checks")
}

const run = ({ bot, interval, verify: chat, watch: isWatched }: FlagsOf<typeof doctorFlags>) =>
  Effect.gen(function* () {
    const own = withSettings(allChecks(bot))
    const all = chat === undefined ? own : yield* withDaily(own, checkAssumptions(chat))
    const checks = Effect.map(all, (found) =>
      found.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
    )
    if (isWatched) {
      return yield* watch(checks, interval, (changed, at) =>
        Effect.forEach(
          changed,
          (check) => print({ at, ...check }, `${time(at)}  ${describe(check)}`, colors[check.status]),
          { discard: true }
        )
      )
    }
    const found = yield* checks
    for (const check of found) yield* print(check, describe(check), colors[check.status])
    const problems = found.filter(({ status }) => status === "problem").length
    if (problems > 0) return yield* failed(`The checks found ${count(problems, "problem")}.`)
  })

/** Checks everything that a bot needs to run. */
export const doctor = action(
  "doctor",
  "Checks the token, TLS, the clock, the webhook, the disk, the database and Redis, and says what to do about each problem. Exit code 1: a problem was found",
  doctorFlags,
  run
)
