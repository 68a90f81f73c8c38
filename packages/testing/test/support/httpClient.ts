import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as FetchHttpClient from "effect/http/FetchHttpClient"

/** The HTTP client of tests with a real port. Bun has a module `undici` of its own, without its dispatchers. */
export const httpClient = "bun" in process.versions ? FetchHttpClient.layer : NodeHttpClient.layerUndici
