import * as Config from "effect/Config"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** A setting that may be missing. */
export const optional = <A>(config: Config.Config<A>): Config.Config<A | undefined> =>
  Config.map(Config.option(config), Option.getOrUndefined)

const isPort = Schema.makeFilter(
  (text: string) => (/^\d{1,5}$/.test(text) && Number(text) <= 65535) || "must be a port, 0 to 65535"
)

export const port = (name: string): Config.Config<number> =>
  Config.map(Config.schema(Schema.String.check(isPort), name), Number)
