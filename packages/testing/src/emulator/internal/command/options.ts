import { SecretCharacters, SecretHeader } from "@colloquy/core/model/Subscription"
import type { UploadType } from "@colloquy/core/endpoints/Upload"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { pathToFileURL } from "node:url"
import { type Options, platformLimits } from "../../EmulatorOptions.ts"
import type { Destination } from "../../NodeWebhookSender.ts"
import { type CommandError, commandError } from "./files.ts"

const booleanFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDefault(false), Flag.withDescription(description))

const textFlag = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.optional,
    Flag.map(Option.getOrUndefined)
  )

const repeatedFlag = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.atLeast(0))

/** The flags of the command. */
export const flags = {
  port: Flag.Int("port").pipe(Flag.withDefault(0), Flag.withDescription("Port of the API. Default: 0, a free port")),
  host: Flag.String("host").pipe(
    Flag.withDefault("127.0.0.1"),
    Flag.withDescription("Address to listen on. Default: 127.0.0.1")
  ),
  uploadPorts: textFlag(
    "upload-ports",
    "8081,8082,8083,8084",
    "Ports for uploads of images, videos, audio and files. Default: free ports"
  ),
  tokens: Flag.String("token").pipe(
    Flag.atLeast(0),
    Flag.withDescription("Token of a bot; repeat it for more bots. Default: emulator-token")
  ),
  seed: textFlag("seed", "FILE", "JSON file with the initial users, chats and messages"),
  isVirtual: booleanFlag("virtual-time", "Time only advances by POST /_emulator/clock"),
  limits: textFlag(
    "limits",
    "30,2,2,2",
    "Requests per second, messages and answers per second per chat, and GET /updates per second; or off"
  ),
  isStrict: booleanFlag("strict", "Rejects fields that the API document does not define"),
  isLenient: booleanFlag("lenient", "No limits, uploads ready immediately, webhooks at http:// on loopback addresses"),
  webhookCas: repeatedFlag(
    "webhook-ca",
    "FILE",
    "PEM file of an additional CA to trust for webhooks; repeat it for more"
  ),
  webhookTo: textFlag(
    "webhook-to",
    "HOST:PORT",
    "Address for all connections to https:// webhooks, whatever their host"
  ),
  secretHeader: textFlag("secret-header", "NAME", "Header with the secret of a webhook. Default: X-Svc-Bot-Api-Secret"),
  secretCharacters: textFlag(
    "secret-characters",
    "CHARACTERS",
    "Characters that a secret may contain besides letters and digits, as _-. Default: -"
  ),
  record: textFlag("record", "FILE", "Records all requests in a journal"),
  replay: textFlag("replay", "FILE", "Replays a journal before accepting requests"),
  allowedHosts: repeatedFlag(
    "allow-host",
    "NAME",
    "Public host name under which the emulator is served; repeat it for more. Default: private names"
  ),
  bot: textFlag(
    "bot",
    "FILE",
    "Module that exports the bot under test: the first lines name it, and a test that is copied from the page imports it"
  ),
  isJson: booleanFlag("json", "Prints the URLs and the token as one JSON object"),
  isMcp: booleanFlag("mcp", "Serves /_emulator as tools of a coding assistant (MCP) over standard input and output")
}

type UploadPorts = Readonly<Record<UploadType, number>>

type FlagValues = Command.Command.Config.Infer<typeof flags>

const parseLimits = (text: string | undefined): Effect.Effect<Options["limits"], CommandError> => {
  if (text === undefined) return Effect.undefined
  if (text === "off") return Effect.succeed(false)
  const rates = text.split(",").map(Number)
  const [host, messages, answers, polling = platformLimits.polling] = rates
  return (rates.length === 3 || rates.length === 4) && rates.every((rate) => Number.isInteger(rate) && rate > 0)
    ? Effect.succeed({ host, messages, answers, polling })
    : commandError(`--limits ${text}: must be three or four integers above 0, such as 30,2,2 or 30,2,2,2, or off`)
}

const isPort = (port: number): boolean => port >= 0 && port <= 65535

const parseUploadPorts = (
  text: string | undefined,
  api: number
): Effect.Effect<UploadPorts | undefined, CommandError> => {
  if (text === undefined) return Effect.undefined
  const ports = text.split(",").map((port) => (/^\d+$/.test(port) ? Number(port) : Number.NaN))
  if (ports.length !== 4 || !ports.every((port) => port > 0 && isPort(port))) {
    return commandError(`--upload-ports ${text}: must be four ports, such as 8081,8082,8083,8084`)
  }
  if (new Set([api, ...ports]).size < 5) return commandError(`--upload-ports ${text}: the ports must be different`)
  const [image, video, audio, file] = ports
  return Effect.succeed({ image, video, audio, file })
}

const parseDestination = (text: string | undefined): Effect.Effect<Destination | undefined, CommandError> => {
  if (text === undefined) return Effect.undefined
  const [, host, digits] = /^(?:\[([^\]]+)\]|[^:]+):(\d+)$/.exec(text) ?? []
  const port = Number(digits)
  return digits !== undefined && port > 0 && isPort(port)
    ? Effect.succeed({ host: host ?? text.slice(0, text.indexOf(":")), port })
    : commandError(`--webhook-to ${text}: must be a host and a port, such as 127.0.0.1:8443`)
}

const isSecretHeader = Schema.is(SecretHeader)

const isSecretCharacters = Schema.is(SecretCharacters)

const isToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

/** Validates the flags, each of them and their combination with each other and with the program after `--`. */
export const parse = Effect.fnUntraced(function* (values: FlagValues, program: ReadonlyArray<string>) {
  const { isLenient, isMcp, isStrict, port, secretCharacters, secretHeader, tokens } = values
  if (!isPort(port)) return yield* commandError(`--port ${port}: must be from 0 to 65535`)
  const token = tokens.find((token) => !isToken(token))
  if (token !== undefined) return yield* commandError("--token: must consist of visible ASCII characters")
  if (new Set(tokens).size < tokens.length) return yield* commandError("--token: the tokens must be different")
  if (secretHeader !== undefined && !isSecretHeader(secretHeader)) {
    return yield* commandError(`--secret-header ${secretHeader}: must be the name of an HTTP header`)
  }
  if (secretCharacters !== undefined && !isSecretCharacters(secretCharacters)) {
    return yield* commandError(
      `--secret-characters ${secretCharacters}: must be visible ASCII characters other than the comma`
    )
  }
  if (isLenient && isStrict) return yield* commandError("--strict and --lenient: use one of them")
  if (isMcp && program.length > 0) return yield* commandError("--mcp and a program after --: use one of them")
  return {
    ...values,
    program,
    uploadPorts: yield* parseUploadPorts(values.uploadPorts, port),
    limits: yield* parseLimits(values.limits),
    webhookTo: yield* parseDestination(values.webhookTo)
  }
})

/** The validated flags, and the program to run with its arguments, or none. */
export type Settings = Effect.Success<ReturnType<typeof parse>>

const noProcessing = { bytesPerSecond: Infinity, minimum: 0 }

/** The options of the emulator for the flags. */
export const toEmulatorOptions = (settings: Settings, [token, ...moreTokens]: ReadonlyArray<string>): Options => ({
  ...(token === undefined ? {} : { token }),
  moreTokens,
  limits: settings.limits ?? (settings.isLenient ? false : platformLimits),
  strict: settings.isStrict,
  insecureWebhooks: settings.isLenient,
  secretHeader: settings.secretHeader,
  secretCharacters: settings.secretCharacters,
  ...(settings.bot === undefined
    ? {}
    : { botModule: pathToFileURL(settings.bot).href, testFolder: pathToFileURL("test").href }),
  ...(settings.isLenient ? { processing: noProcessing } : {})
})
