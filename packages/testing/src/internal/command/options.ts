import { SecretCharacters, SecretHeader } from "@colloquy/core/Subscription"
import type { UploadType } from "@colloquy/core/Upload"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Destination } from "../../NodeWebhookSender.ts"
import { type CommandProblem, problem } from "./problem.ts"

const optional = <A>(flag: Flag.Flag<A>) => Flag.map(Flag.optional(flag), Option.getOrUndefined)

const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDefault(false), Flag.withDescription(description))

/** The flags of the command. */
export const flags = {
  port: Flag.Int("port").pipe(
    Flag.withDefault(0),
    Flag.withDescription("The port of the API; 0, which is the default, takes a free one")
  ),
  host: Flag.String("host").pipe(Flag.withDefault("127.0.0.1"), Flag.withDescription("The address to listen on")),
  uploadPorts: optional(Flag.String("upload-ports")).pipe(
    Flag.withMetavar("8081,8082,8083,8084"),
    Flag.withDescription("The ports for uploads of images, videos, audio and files; free ones unless told")
  ),
  tokens: Flag.String("token").pipe(
    Flag.atLeast(0),
    Flag.withDescription("The token of a bot, again for each further one; emulator-token unless told")
  ),
  seed: optional(Flag.String("seed")).pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("A JSON world to begin with")
  ),
  isVirtual: toggle("virtual-time", "Time stands still until POST /_emulator/clock moves it"),
  limits: optional(Flag.String("limits")).pipe(
    Flag.withMetavar("30,2,2,2"),
    Flag.withDescription(
      "Requests per second, messages and answers per second for each chat, and calls of GET /updates per second; or off"
    )
  ),
  isStrict: toggle("strict", "Refuses fields that the API document does not know"),
  isLenient: toggle("lenient", "No limits, files ready at once, webhooks over http:// on the loopback"),
  webhookRoots: Flag.String("webhook-root").pipe(
    Flag.withMetavar("FILE"),
    Flag.atLeast(0),
    Flag.withDescription("A PEM certificate of an authority to trust for webhooks besides Node's own, again for more")
  ),
  webhookTo: optional(Flag.String("webhook-to")).pipe(
    Flag.withMetavar("HOST:PORT"),
    Flag.withDescription("Where connections to https:// webhooks go, whatever host they name")
  ),
  secretHeader: optional(Flag.String("secret-header")).pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("The header that carries the secret of a webhook. Default: X-Svc-Bot-Api-Secret")
  ),
  secretCharacters: optional(Flag.String("secret-characters")).pipe(
    Flag.withMetavar("CHARACTERS"),
    Flag.withDescription("Characters that a secret may contain besides letters and digits, as _-. Default: -")
  ),
  record: optional(Flag.String("record")).pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Writes a journal of all that happens")
  ),
  replay: optional(Flag.String("replay")).pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Plays a journal back before it answers anybody")
  ),
  isJson: toggle("json", "The first line is one JSON object: url, uploads, token")
}

/** Calls per second: to the host, for each chat messages and answers to callbacks, and of GET /updates. */
export interface Rates {
  readonly host: number
  readonly messages: number
  readonly answers: number
  /** Default: 2. */
  readonly polling?: number
}

type UploadPorts = Readonly<Record<UploadType, number>>

/** What the command was told. */
export interface Settings {
  readonly port: number
  readonly host: string
  readonly uploadPorts: UploadPorts | undefined
  readonly tokens: ReadonlyArray<string>
  readonly seed: string | undefined
  readonly isVirtual: boolean
  readonly limits: Rates | "off" | undefined
  readonly isStrict: boolean
  readonly isLenient: boolean
  /** Files of certificates. */
  readonly webhookRoots: ReadonlyArray<string>
  readonly webhookTo: Destination | undefined
  readonly secretHeader: string | undefined
  readonly secretCharacters: string | undefined
  readonly record: string | undefined
  readonly replay: string | undefined
  readonly isJson: boolean
}

export type Given = Omit<Settings, "uploadPorts" | "limits" | "webhookTo"> & {
  readonly uploadPorts: string | undefined
  readonly limits: string | undefined
  readonly webhookTo: string | undefined
}

const readLimits = (text: string | undefined): Effect.Effect<Settings["limits"], CommandProblem> => {
  if (text === undefined || text === "off") return Effect.succeed(text)
  const rates = text.split(",").map(Number)
  const [host, messages, answers, polling] = rates
  return (rates.length === 3 || rates.length === 4) && rates.every((rate) => Number.isInteger(rate) && rate > 0)
    ? Effect.succeed({ host, messages, answers, ...(polling === undefined ? {} : { polling }) })
    : Effect.fail(
        problem(`--limits ${text}: must be three or four integers above 0, such as 30,2,2 or 30,2,2,2, or off`)
      )
}

const isPort = (port: number): boolean => port >= 0 && port <= 65535

const readUploadPorts = (
  text: string | undefined,
  api: number
): Effect.Effect<UploadPorts | undefined, CommandProblem> => {
  if (text === undefined) return Effect.undefined
  const ports = text.split(",").map((port) => (/^\d+$/.test(port) ? Number(port) : Number.NaN))
  if (ports.length !== 4 || !ports.every((port) => port > 0 && isPort(port))) {
    return Effect.fail(problem(`--upload-ports ${text}: must be four ports, as 8081,8082,8083,8084`))
  }
  if (new Set([api, ...ports]).size < 5) return Effect.fail(problem(`--upload-ports ${text}: each needs another one`))
  const [image, video, audio, file] = ports
  return Effect.succeed({ image, video, audio, file })
}

const readDestination = (text: string | undefined): Effect.Effect<Destination | undefined, CommandProblem> => {
  if (text === undefined) return Effect.undefined
  const [, host, digits] = /^(?:\[([^\]]+)\]|[^:]+):(\d+)$/.exec(text) ?? []
  const port = Number(digits)
  return digits !== undefined && port > 0 && isPort(port)
    ? Effect.succeed({ host: host ?? text.slice(0, text.indexOf(":")), port })
    : Effect.fail(problem(`--webhook-to ${text}: must be a host and a port, as 127.0.0.1:8443`))
}

const isSecretHeader = Schema.is(SecretHeader)

const isSecretCharacters = Schema.is(SecretCharacters)

const isToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

/** Checks what the flags say each for itself and together. */
export const settle = (given: Given): Effect.Effect<Settings, CommandProblem> =>
  Effect.gen(function* () {
    const { isLenient, isStrict, port, secretCharacters, secretHeader, tokens } = given
    if (!isPort(port)) return yield* problem(`--port ${port}: must be from 0 to 65535`)
    const token = tokens.find((token) => !isToken(token))
    if (token !== undefined) return yield* problem("--token: must be visible characters without blanks")
    if (new Set(tokens).size < tokens.length) return yield* problem("--token: each bot needs another one")
    if (secretHeader !== undefined && !isSecretHeader(secretHeader)) {
      return yield* problem(`--secret-header ${secretHeader}: must be the name of an HTTP header`)
    }
    if (secretCharacters !== undefined && !isSecretCharacters(secretCharacters)) {
      return yield* problem(
        `--secret-characters ${secretCharacters}: must be visible ASCII characters other than the comma`
      )
    }
    if (isLenient && isStrict) return yield* problem("--strict and --lenient: use one of them")
    return {
      ...given,
      uploadPorts: yield* readUploadPorts(given.uploadPorts, port),
      limits: yield* readLimits(given.limits),
      webhookTo: yield* readDestination(given.webhookTo)
    }
  })
