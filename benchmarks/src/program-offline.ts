/** A `fetch` that responds without a network, so that a program can run to its end. */
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"

const answer = `{"message":{"recipient":{"chat_id":1,"chat_type":"dialog"},"timestamp":1774000000123,"body":{"mid":"mid.1","seq":116260864008126464,"text":"Hello"}}}`

export const answeringOffline = Layer.succeed(FetchHttpClient.Fetch, async () => new Response(answer))
