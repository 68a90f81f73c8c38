/** Reads RSS and Atom feeds. */
import * as PublicHost from "@colloquy/core/client/PublicHost"
import { parseFeed } from "@rowanmanning/feed-parser"
import { Cache, Context, Data, Effect, Layer } from "effect"
import { HttpClient } from "effect/http"

export interface Entry {
  readonly id: string
  readonly title: string
  readonly url: string
}

export class FeedUnavailable extends Data.TaggedError("FeedUnavailable")<{
  readonly url: string
  readonly cause: unknown
}> {
  override get message() {
    return `The feed ${this.url} cannot be read: ${String(this.cause)}`
  }
}

export class Feeds extends Context.Service<
  Feeds,
  {
    /** Returns the entries of a feed, the newest first. */
    readonly read: (url: string) => Effect.Effect<ReadonlyArray<Entry>, FeedUnavailable>
  }
>()("Feeds") {}

export const read = (url: string) => Feeds.use(({ read }) => read(url))

const entriesOf = (xml: string): ReadonlyArray<Entry> =>
  parseFeed(xml).items.flatMap(({ id, title, url }) =>
    url === null ? [] : [{ id: id ?? url, title: title ?? url, url }]
  )

/** Requests a feed. The address is a text of a person, so the request must not reach the network of the bot. */
const request = (client: HttpClient.HttpClient, url: string) =>
  Effect.gen(function* () {
    const { hostname } = yield* Effect.try({ try: () => new URL(url), catch: () => "the address is not a URL" })
    if (!PublicHost.isPublicHost(hostname)) return yield* Effect.fail(`${hostname} is not on the public internet`)
    const response = yield* client.get(url)
    const xml = yield* response.text
    return yield* Effect.try({ try: () => entriesOf(xml), catch: String })
  }).pipe(
    Effect.provideService(PublicHost.PublicHostsOnly, true),
    Effect.timeout("10 seconds"),
    Effect.mapError((cause) => new FeedUnavailable({ url, cause }))
  )

/** Requests each feed at most once a minute, however many chats follow it. */
export const layer = Layer.effect(
  Feeds,
  Effect.gen(function* () {
    const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    const lookup = (url: string) => request(client, url)
    const cache = yield* Cache.make({ lookup, capacity: 1000, timeToLive: "1 minute" })
    return { read: (url) => Cache.get(cache, url) }
  })
)
