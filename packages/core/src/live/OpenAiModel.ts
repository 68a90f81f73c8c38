/**
 * A language model behind an API that is compatible with the chat completions of OpenAI, for `Assistant`.
 *
 * Import the module by its path, `@colloquy/core/live/OpenAiModel`. The packages of Effect for providers of models have
 * more features, such as images and reasoning; any `LanguageModel` of `effect/ai` can be used instead.
 *
 * @since 0.1.0
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Settings from "../client/Settings.ts"
import { defaultIdleTimeout } from "./internal/idle.ts"
import { make } from "./internal/assistant/openAi.ts"

/**
 * Options of {@link layer}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /** The base URL of the API, which ends with its version: `https://model.example/v1`. */
  readonly baseUrl: string
  /** The name of the model. */
  readonly model: string
  /** The key of the API. Default: none, for a model on the same machine. */
  readonly apiKey?: Redacted.Redacted | undefined
  /**
   * Maximum time in which the API sends nothing, before its answer and between two events, after which the request fails
   * with a retryable `AiError`. `Duration.infinity`: no limit. Default: 60 seconds.
   */
  readonly idleTimeout?: Duration.Input | undefined
}

/**
 * Provides the model. The model sends texts, calls of functions and their results, and streams the answer. A request
 * that the API refuses, or an answer that cannot be read, is an `AiError`.
 *
 * **Example** (A model on the same machine)
 *
 * ```ts
 * import * as OpenAiModel from "@colloquy/core/live/OpenAiModel"
 * import { Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const model = OpenAiModel.layer({ baseUrl: "http://127.0.0.1:11434/v1", model: "small" }).pipe(
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<LanguageModel.LanguageModel, never, HttpClient.HttpClient> =>
  Layer.effect(LanguageModel.LanguageModel, make(options))

/**
 * The settings that {@link layerConfig} reads by default.
 *
 * - `baseUrl`: `MODEL_URL`. Required.
 * - `model`: `MODEL_NAME`. Required.
 * - `apiKey`: `MODEL_KEY`. Default: none.
 * - `idleTimeout`: `MODEL_IDLE_TIMEOUT`. Default: 60 seconds.
 *
 * @category settings
 * @since 0.1.0
 */
export const settings = {
  baseUrl: Config.NonEmptyString("MODEL_URL"),
  model: Config.NonEmptyString("MODEL_NAME"),
  apiKey: Config.map(Config.option(Config.Redacted("MODEL_KEY")), Option.getOrUndefined),
  idleTimeout: Config.withDefault(Config.Duration("MODEL_IDLE_TIMEOUT"), defaultIdleTimeout)
}

/**
 * {@link layer} with options from `Config`. Default: {@link settings}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = settings
): Layer.Layer<LanguageModel.LanguageModel, Settings.InvalidSettings, HttpClient.HttpClient> =>
  Layer.unwrap(Effect.map(Settings.unwrap<Options>(options), layer))
